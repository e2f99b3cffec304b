package partition_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
	"github.com/flexpipe/flexpipe/solve/partition"
)

var everyRecompute = []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull}

// gpt returns a network of 48 blocks, embedding and head on stages over devices of
// the given limit in GiB; loop, v or linear by name.
func gpt(t testing.TB, placement string, stages, devices int, limit float64, recompute []network.Recompute) *partition.Problem {
	t.Helper()
	chain, err := network.GPT{Layers: 48, Hidden: 4096, Heads: 32, Sequence: 2048, Vocabulary: 50304, MicroBatchSize: 1}.Chain()
	if err != nil {
		t.Fatal(err)
	}
	layers, err := partition.FromNetwork(chain, network.Cluster{FLOPs: 312e12, Efficiency: 0.45})
	if err != nil {
		t.Fatal(err)
	}
	p := &partition.Problem{Layers: layers, Recompute: recompute, InFlight: partition.OneForwardOneBackward(stages, 64)}
	switch placement {
	case "loop":
		p.Group, p.InFlight = partition.LoopGroups(stages, devices), partition.Interleaved(stages, devices, 64)
	case "v":
		p.Group = partition.VeeGroups(stages, devices)
	default:
		p.Group = partition.LinearGroups(stages)
	}
	for range devices {
		p.Devices = append(p.Devices, partition.Device{Limit: int64(limit * (1 << 30))})
	}
	return p
}

// mixed makes every other device a quarter slower, and lets devices run any group.
func mixed(p *partition.Problem) *partition.Problem {
	for d := range p.Devices {
		p.Devices[d].Factor = 4 + int64(d%2)
	}
	p.FreeAssignment = true
	return p
}

// large lists problems of the size that users have.
func large(t testing.TB) map[string]*partition.Problem {
	return map[string]*partition.Problem{
		"linear-8":         gpt(t, "linear", 8, 8, 80, nil),
		"linear-16-memory": gpt(t, "linear", 16, 16, 17, everyRecompute),
		"linear-8-memory":  gpt(t, "linear", 8, 8, 27, everyRecompute),
		"mixed-8-memory":   mixed(gpt(t, "linear", 8, 8, 27, everyRecompute)),
		"mixed-16":         mixed(gpt(t, "linear", 16, 16, 80, nil)),
		"v-16":             gpt(t, "v", 16, 8, 80, nil),
		"v-16-memory":      gpt(t, "v", 16, 8, 30, everyRecompute),
		"loop-16":          gpt(t, "loop", 16, 8, 80, nil),
		"loop-16-memory":   gpt(t, "loop", 16, 8, 30, everyRecompute),
	}
}

func BenchmarkSolve(b *testing.B) {
	for name, p := range large(b) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := partition.Solve(context.Background(), p, partition.Options{Method: partition.DynamicProgram}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCandidates(b *testing.B) {
	p := gpt(b, "linear", 8, 8, 27, everyRecompute)
	for b.Loop() {
		if _, err := partition.Candidates(context.Background(), p, 16, partition.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLarge has both methods agree on the busiest device, where the integer program can.
func TestLarge(t *testing.T) {
	for name, p := range large(t) {
		r, err := partition.Solve(context.Background(), p, partition.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !r.Proved || r.Method != partition.DynamicProgram || !partition.Fits(p, &r.Choice) {
			t.Errorf("%s: %v", name, r)
		}
		if p.Recompute != nil || p.FreeAssignment {
			continue
		}
		i, err := partition.Solve(context.Background(), p, partition.Options{Method: partition.IntegerProgram, MaxNodes: 50})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if i.Score.Busiest != r.Score.Busiest || !i.Proved {
			t.Errorf("%s: the integer program says %v, the dynamic program %v", name, i, r)
		}
	}
}

// TestThreeLaps has a frontier that is too wide for the dynamic program.
func TestThreeLaps(t *testing.T) {
	p := gpt(t, "loop", 24, 8, 80, nil)
	r, err := partition.Solve(context.Background(), p, partition.Options{MaxSteps: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Proved || r.Method != partition.IntegerProgram || !partition.Fits(p, &r.Choice) {
		t.Errorf("got %v", r)
	}
}

// TestEnded wants a choice and a bound that holds from a search that may not start.
func TestEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := gpt(t, "loop", 16, 8, 30, everyRecompute)
	best, err := partition.Solve(context.Background(), p, partition.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []partition.Method{partition.Auto, partition.IntegerProgram} {
		r, err := partition.Solve(ctx, p, partition.Options{Method: m})
		if err != nil {
			t.Fatalf("%v: %v", m, err)
		}
		if r.Bound > best.Score.Busiest || r.Score.Busiest < best.Score.Busiest || r.Proved || !partition.Fits(p, &r.Choice) {
			t.Errorf("%v: got %v, best %v", m, r, best)
		}
		if !strings.Contains(r.String(), "gap") {
			t.Errorf("%v: no gap in %q", m, r)
		}
	}
}

// TestAgainstBalanced has no memory and no choice of recomputation, as
// network.Balanced, which also makes the squares least.
func TestAgainstBalanced(t *testing.T) {
	for _, stages := range []int{1, 2, 7, 16} {
		p := gpt(t, "linear", stages, stages, 0, nil)
		slowdown := make([]float64, stages)
		for s := range slowdown {
			p.Devices[s].Factor = int64(4 + s%3)
			slowdown[s] = float64(4 + s%3)
		}
		r, err := partition.Solve(context.Background(), p, partition.Options{})
		if err != nil {
			t.Fatal(err)
		}
		cost := func(stage, first, end int) (sum float64) {
			for i := first; i < end; i++ {
				sum += float64(p.Layers[i].Modes[0].Work) * slowdown[stage]
			}
			return sum
		}
		cut, err := network.MinMax(len(p.Layers), stages, cost)
		if err != nil {
			t.Fatal(err)
		}
		c := partition.Choice{Cut: cut, Recompute: make([]network.Recompute, stages)}
		for s := range stages {
			c.Devices = append(c.Devices, s)
		}
		if want, _ := partition.Evaluate(p, &c); want.Busiest != r.Score.Busiest {
			t.Errorf("%d stages: busiest %d, network.MinMax has %d", stages, r.Score.Busiest, want.Busiest)
		}
	}
}

// equal returns n layers of work 3, a tick for each operation, and a byte of memory.
func equal(n int) []partition.Layer {
	var layers []partition.Layer
	for range n {
		layers = append(layers, partition.Layer{Static: 1, Modes: []partition.Mode{{Work: 3, Activation: 2}, {Work: 3, Activation: 2}, {Work: 4, Activation: 1}}})
	}
	return layers
}

// TestThirtyLayers is Megatron-LM issue 1304: 30 layers on 4 stages, which built 28
// of them without a word. No cut has less than 8 layers on some stage; of those with
// no more, the lightest ends are best, also by makespan with 4 micro-batches.
func TestThirtyLayers(t *testing.T) {
	p := &partition.Problem{
		Layers: equal(30), Group: partition.LinearGroups(4), InFlight: partition.OneForwardOneBackward(4, 4),
		Devices: make([]partition.Device, 4),
	}
	list, err := partition.Candidates(context.Background(), p, 10, partition.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if first := list[0]; !slices.Equal(first.Cut, network.Partition{7, 8, 8, 7}) || first.Score.Busiest != 24 {
		t.Errorf("the best cut is %v", &first)
	}
	position := func(cut ...int) int {
		return slices.IndexFunc(list, func(r partition.Result) bool { return slices.Equal(r.Cut, cut) })
	}
	// The ten cuts with at most 8 layers come before those with 9.
	for i, r := range list {
		if (r.Score.Busiest == 24) != (i < 10) {
			t.Errorf("candidate %d has busiest %d", i, r.Score.Busiest)
		}
	}
	for _, cut := range [][]int{{8, 8, 7, 7}, {8, 7, 7, 8}, {7, 7, 8, 8}, {6, 8, 8, 8}} {
		if at := position(cut...); at < 1 || at > 9 {
			t.Errorf("%v is candidate %d", cut, at)
		}
	}
	for _, cut := range [][]int{{6, 9, 8, 7}, {7, 9, 7, 7}, {7, 8, 9, 6}} {
		if at := position(cut...); at < 10 {
			t.Errorf("%v, a step from the best, is candidate %d", cut, at)
		}
	}
}

func TestInfeasible(t *testing.T) {
	p := &partition.Problem{
		Layers: equal(8), Group: partition.LinearGroups(4), InFlight: partition.OneForwardOneBackward(4, 4),
		Devices: []partition.Device{{Limit: 11}, {Limit: 11}, {Limit: 11}, {Limit: 11}},
	}
	for _, c := range []struct {
		limit int64
		want  string
	}{
		{11, "no partition fits in memory: device 3 needs 12 B, its limit is 11 B; full recompute on stages 0-1 would fit"},
		{6, "no partition fits in memory: device 3 needs 12 B, its limit is 6 B; 6 B more on devices 0-3 would fit"},
	} {
		for d := range p.Devices {
			p.Devices[d].Limit = c.limit
		}
		_, err := partition.Solve(context.Background(), p, partition.Options{})
		if err == nil || err.Error() != c.want {
			t.Errorf("limit %d: error is %v, want %s", c.limit, err, c.want)
		}
	}
}

// TestEachDeviceItsMemory is Megatron-Bridge pull request 5077: memory by the average
// of 2 would fit where the last device needs 3.
func TestEachDeviceItsMemory(t *testing.T) {
	p := &partition.Problem{Group: partition.LinearGroups(4), InFlight: []int{1, 1, 1, 1}}
	for _, static := range []int64{1, 2, 2, 3} {
		p.Layers = append(p.Layers, partition.Layer{Static: static, Modes: []partition.Mode{{Work: 1}}})
		p.Devices = append(p.Devices, partition.Device{Limit: 2})
	}
	_, err := partition.Solve(context.Background(), p, partition.Options{})
	var e *partition.InfeasibleError
	if !errors.As(err, &e) || e.Device != 3 || e.Need != 3 || e.Limit != 2 {
		t.Errorf("error is %v, want device 3 with 3 of 2", err)
	}
}

func TestInterleaved(t *testing.T) {
	for _, c := range []struct {
		stages, devices, microBatches int
		want                          []int
	}{
		{4, 4, 8, []int{4, 3, 2, 1}},
		{4, 4, 2, []int{2, 2, 2, 1}},
		// Device 0 has 4 warm-up forwards and runs one more before its first backward: 2
		// of stage 0, 2 of stage 2, 1 of stage 0; by the first backward of stage 0 there
		// are 4 of it.
		{4, 2, 8, []int{4, 3, 2, 1}},
	} {
		if got := partition.Interleaved(c.stages, c.devices, c.microBatches); !slices.Equal(got, c.want) {
			t.Errorf("%d stages on %d devices: %v, want %v", c.stages, c.devices, got, c.want)
		}
	}
}

// TestInterleavedAgainstOrder counts along the order of each device: warm-up
// forwards, then a forward and a backward in turn, P micro-batches of a stage at a
// time, backwards from the last stage on.
func TestInterleavedAgainstOrder(t *testing.T) {
	const devices = 4
	for laps := 2; laps <= 4; laps++ {
		stages, microBatches := laps*devices, 8*devices
		want := make([]int, stages)
		for d := range devices {
			held := make([]int, laps)
			lap := func(i int) int { return i / devices % laps }
			total, warmUp := laps*microBatches, 2*(devices-1-d)+(laps-1)*devices
			for i := range total + warmUp {
				if i < total {
					held[lap(i)]++
				}
				for l, n := range held {
					want[l*devices+d] = max(want[l*devices+d], n)
				}
				if i >= warmUp {
					held[laps-1-lap(i-warmUp)]--
				}
			}
		}
		if got := partition.Interleaved(stages, devices, microBatches); !slices.Equal(got, want) {
			t.Errorf("%d laps: %v, want %v", laps, got, want)
		}
	}
}

func TestProblemErrors(t *testing.T) {
	valid := func() *partition.Problem {
		return &partition.Problem{Layers: equal(3), Group: []int{0, 1}, InFlight: []int{2, 1}, Devices: make([]partition.Device, 2)}
	}
	if err := valid().Check(); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(*partition.Problem){
		"Group":              func(p *partition.Problem) { p.Group = nil },
		"Group[1]":           func(p *partition.Problem) { p.Group[1] = -1 },
		"InFlight":           func(p *partition.Problem) { p.InFlight = []int{1} },
		"InFlight[0]":        func(p *partition.Problem) { p.InFlight[0] = 0 },
		"Recompute":          func(p *partition.Problem) { p.Recompute = []network.Recompute{2, 1} },
		"Devices":            func(p *partition.Problem) { p.Devices = p.Devices[:1] },
		"Devices[1]":         func(p *partition.Problem) { p.Devices[1].Limit = -1 },
		"Layers[2]":          func(p *partition.Problem) { p.Layers[2].Modes = nil },
		"Layers[0].Modes[1]": func(p *partition.Problem) { p.Layers[0].Modes[1].Work = -1 },
		"Layers":             func(p *partition.Problem) { p.Layers[0].Modes[1].Work = 1 << 62 },
	} {
		p := valid()
		change(p)
		_, err := partition.Solve(context.Background(), p, partition.Options{})
		var e *partition.ProblemError
		if !errors.As(err, &e) || e.Field != field {
			t.Errorf("error is %v, want one for %s", err, field)
		}
	}
}
