package partition_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model/network"
	"github.com/flexpipe/flexpipe/solve/partition"
)

var everyRecompute = []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull}

// gpt returns a network of 48 blocks, embedding and head on stages over devices of the given
// limit in GiB; loop, v or linear by name.
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
		"linear-16-memory": gpt(t, "linear", 16, 16, 14, everyRecompute),
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

func TestMeasure(t *testing.T) {
	for name, p := range large(t) {
		start := time.Now()
		r, err := partition.Solve(context.Background(), p, partition.Options{Method: partition.DynamicProgram})
		fmt.Println(name, time.Since(start), r, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, v := range []string{"v", "loop"} {
		for _, st := range []int{16, 24} {
			start := time.Now()
			r, err := partition.Solve(ctx, gpt(t, v, st, 8, 80, nil), partition.Options{Method: partition.IntegerProgram})
			fmt.Println(v, st, time.Since(start), r, err)
		}
	}
}
