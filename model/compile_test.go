package model_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const none = model.Absent

// rowText writes a row in one line, for comparison. What is plain is left out.
func rowText(p *model.Problem, r int) string {
	row := &p.Rows[r]
	var b strings.Builder
	fmt.Fprintf(&b, "%d%s", row.Stage, p.Kinds[row.Kind].Letter)
	if row.To >= 0 {
		fmt.Fprintf(&b, ">%d", row.To)
	}
	if row.Route > 0 {
		fmt.Fprintf(&b, " route %d", row.Route)
	}
	fmt.Fprintf(&b, " on %v lasts %d", row.Devices, row.Duration)
	if row.Fixed {
		b.WriteString(" fixed")
	}
	if row.Memory != nil {
		fmt.Fprintf(&b, " memory %v", row.Memory)
	}
	for _, pred := range row.Preds {
		fmt.Fprintf(&b, " after %d+%d", pred.Row, pred.Lag)
	}
	b.WriteString([]string{"", " when split", " when fused"}[row.Choice])
	if row.Twin >= 0 {
		fmt.Fprintf(&b, " twin %d", row.Twin)
	}
	return b.String()
}

func mustCompile(t testing.TB, pl *model.Pipeline) *model.Problem {
	t.Helper()
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func wantRows(t *testing.T, pl *model.Pipeline, want ...string) *model.Problem {
	t.Helper()
	p := mustCompile(t, pl)
	var got []string
	for r := range p.Rows {
		got = append(got, rowText(p, r))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows, -want +got\n%s", diff)
	}
	return p
}

// durations is forward, backward input, backward weight, backward full.
func durations(f, i, w, b model.Time) model.Durations {
	return model.Durations{Forward: f, BackwardInput: i, BackwardWeight: w, BackwardFull: b, Overlapped: none}
}

// chain returns a pipeline with stage s on device s, that holds 5 and of it 2 to
// the end of backward input.
func chain(mode model.Mode, stages ...model.Durations) *model.Pipeline {
	pl := &model.Pipeline{Name: "test", MicroBatches: 2}
	for s, d := range stages {
		pl.Devices = append(pl.Devices, model.Device{Limit: model.Unlimited})
		pl.Stages = append(pl.Stages, model.Stage{
			Replicas: []model.Replica{{Devices: []int{s}, Durations: d}},
			Backward: mode, Activation: 5, FreedByInput: 2,
		})
	}
	model.Chain(pl.Stages)
	return pl
}

func TestCompileModes(t *testing.T) {
	all := durations(1, 2, 3, 4)
	t.Run("split", func(t *testing.T) {
		wantRows(t, chain(model.Split, all),
			"0F on [0] lasts 1 memory [{5 0}]",
			"0I on [0] lasts 2 memory [{0 -2}] after 0+0",
			"0W on [0] lasts 3 memory [{0 -3}] after 1+0")
	})
	t.Run("fused", func(t *testing.T) {
		wantRows(t, chain(model.Fused, all),
			"0F on [0] lasts 1 memory [{5 0}]",
			"0B on [0] lasts 4 memory [{0 -5}] after 0+0")
	})
	t.Run("auto", func(t *testing.T) {
		p := wantRows(t, chain(model.Auto, all, all),
			"0F on [0] lasts 1 memory [{5 0}]",
			"0I on [0] lasts 2 memory [{0 -2}] after 0+0 after 5+0 when split twin 3",
			"0W on [0] lasts 3 memory [{0 -3}] after 1+0 when split",
			"0B on [0] lasts 4 memory [{0 -5}] after 0+0 after 5+0 when fused twin 1",
			"1F on [1] lasts 1 memory [{5 0}] after 0+0",
			"1I on [1] lasts 2 memory [{0 -2}] after 4+0 when split twin 7",
			"1W on [1] lasts 3 memory [{0 -3}] after 5+0 when split",
			"1B on [1] lasts 4 memory [{0 -5}] after 4+0 when fused twin 5")
		if !p.HasChoice {
			t.Error("HasChoice is false")
		}
	})
	t.Run("cannot be fused", func(t *testing.T) {
		for _, mode := range []model.Mode{model.Fused, model.Auto} {
			p := wantRows(t, chain(mode, durations(1, 2, 3, none)),
				"0F on [0] lasts 1 memory [{5 0}]",
				"0I on [0] lasts 2 memory [{0 -2}] after 0+0",
				"0W on [0] lasts 3 memory [{0 -3}] after 1+0")
			if p.HasChoice {
				t.Error("HasChoice is true")
			}
		}
	})
}

// TestCompileMissingOperations: a stage with one half of the backward pass runs
// that one in every mode, one with neither half runs the fused one if it can.
func TestCompileMissingOperations(t *testing.T) {
	for _, mode := range []model.Mode{model.Split, model.Fused, model.Auto} {
		t.Run(mode.String(), func(t *testing.T) {
			wantRows(t, chain(mode,
				durations(1, none, none, none), durations(2, none, 3, 9), durations(4, 5, none, 9), durations(6, none, none, 7)),
				"0F on [0] lasts 1 memory [{5 -5}]",
				"1F on [1] lasts 2 memory [{5 0}] after 0+0",
				"1W on [1] lasts 3 memory [{0 -5}] after 1+0 after 4+0",
				"2F on [2] lasts 4 memory [{5 0}] after 1+0",
				"2I on [2] lasts 5 memory [{0 -5}] after 3+0 after 6+0",
				"3F on [3] lasts 6 memory [{5 0}] after 3+0",
				"3B on [3] lasts 7 memory [{0 -5}] after 5+0")
		})
	}
}

// TestCompileRecompute: a negative FreedByInput is taken when backward input, or
// the fused backward, starts.
func TestCompileRecompute(t *testing.T) {
	pl := chain(model.Auto, durations(1, 2, 3, 4), durations(1, 2, none, none))
	pl.Stages[0].FreedByInput, pl.Stages[1].FreedByInput = -4, -1
	wantRows(t, pl,
		"0F on [0] lasts 1 memory [{5 0}]",
		"0I on [0] lasts 2 memory [{4 0}] after 0+0 after 5+0 when split twin 3",
		"0W on [0] lasts 3 memory [{0 -9}] after 1+0 when split",
		"0B on [0] lasts 4 memory [{4 -9}] after 0+0 after 5+0 when fused twin 1",
		"1F on [1] lasts 1 memory [{5 0}] after 0+0",
		"1I on [1] lasts 2 memory [{1 -6}] after 4+0")
}

// TestMemoryBalance: whatever a micro-batch takes, it gives back, in either case.
func TestMemoryBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := mustCompileRandom(t, rapid.Uint64().Draw(t, "seed"))
		for _, unused := range []model.Choice{model.WhenSplit, model.WhenFused} {
			held := map[[3]int]model.Bytes{} // by stage, route and device
			for r := range p.Rows {
				row := &p.Rows[r]
				for i, delta := range row.Memory {
					if row.Choice != unused {
						held[[3]int{row.Stage, row.Route, int(row.Devices[i])}] += delta.AtStart + delta.AtEnd
					}
				}
			}
			for at, left := range held {
				if left != 0 {
					t.Fatalf("stage, route, device %v keep %d", at, left)
				}
			}
		}
	})
}

func mustCompileRandom(t *rapid.T, seed uint64) *model.Problem {
	p, err := model.Compile(modelgen.RandomPipeline(seed, 5))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCompileLatency(t *testing.T) {
	pl := chain(model.Split, durations(1, 2, 3, none), durations(1, 2, 3, none), durations(1, 2, 3, none))
	pl.Latency = 7
	pl.Links = []model.Link{{From: 1, To: 0, Latency: 0}, {From: 1, To: 2, Latency: 9}}
	pl.Stages[2].Replicas[0].Devices = []int{2, 1} // a gang, which holds device 1 too
	pl.Stages[2].Static, pl.Stages[1].Static = 10, 1
	p := wantRows(t, pl,
		"0F on [0] lasts 1 memory [{5 0}]",
		"0I on [0] lasts 2 memory [{0 -2}] after 0+0 after 4+0",
		"0W on [0] lasts 3 memory [{0 -3}] after 1+0",
		"1F on [1] lasts 1 memory [{5 0}] after 0+7",
		"1I on [1] lasts 2 memory [{0 -2}] after 3+0 after 7+7",
		"1W on [1] lasts 3 memory [{0 -3}] after 4+0",
		"2F on [1 2] lasts 1 memory [{5 0} {5 0}] after 3+9",
		"2I on [1 2] lasts 2 memory [{0 -2} {0 -2}] after 6+0",
		"2W on [1 2] lasts 3 memory [{0 -3} {0 -3}] after 7+0")
	if want := []model.Bytes{0, 11, 10}; !slices.Equal(p.Statics, want) {
		t.Errorf("static memory %v, want %v", p.Statics, want)
	}
	if want := [][]int32{{0, 1, 2}, {3, 4, 5, 6, 7, 8}, {6, 7, 8}}; !cmp.Equal(p.RowsOn, want) {
		t.Errorf("rows on devices %v, want %v", p.RowsOn, want)
	}
}

// TestCompileEqualGangs: between equal sets there is no transfer.
func TestCompileEqualGangs(t *testing.T) {
	pl := chain(model.Split, durations(1, none, none, none), durations(1, none, none, none))
	pl.Latency, pl.Blocking = 3, true
	pl.Stages[0].Replicas[0].Devices = []int{1, 0}
	pl.Stages[1].Replicas[0].Devices = []int{0, 1}
	wantRows(t, pl,
		"0F on [0 1] lasts 1 memory [{5 -5} {5 -5}]",
		"1F on [0 1] lasts 1 memory [{5 -5} {5 -5}] after 0+0")
}

func TestCompileBlocking(t *testing.T) {
	pl := chain(model.Auto, durations(1, 2, 3, 4), durations(1, 2, 3, 4), durations(1, 2, 3, 4))
	pl.Latency, pl.Blocking = 2, true
	pl.Links = []model.Link{{From: 1, To: 2, Latency: 0}}
	pl.Factors, pl.FactorScale = []int64{1, 3}, 1
	p := wantRows(t, pl,
		"0F on [0] lasts 1 memory [{5 0}]",
		"0I on [0] lasts 2 memory [{0 -2}] after 0+0 after 12+0 when split twin 3",
		"0W on [0] lasts 3 memory [{0 -3}] after 1+0 when split",
		"0B on [0] lasts 4 memory [{0 -5}] after 0+0 after 12+0 when fused twin 1",
		"1F on [1] lasts 1 memory [{5 0}] after 13+0",
		"1I on [1] lasts 2 memory [{0 -2}] after 4+0 after 14+0 when split twin 7",
		"1W on [1] lasts 3 memory [{0 -3}] after 5+0 when split",
		"1B on [1] lasts 4 memory [{0 -5}] after 4+0 after 14+0 when fused twin 5",
		"2F on [2] lasts 1 memory [{5 0}] after 4+0", // a transfer of length 0 is left out
		"2I on [2] lasts 2 memory [{0 -2}] after 8+0 when split twin 11",
		"2W on [2] lasts 3 memory [{0 -3}] after 9+0 when split",
		"2B on [2] lasts 4 memory [{0 -5}] after 8+0 when fused twin 9",
		"1SEND_B>0 on [0 1] lasts 2 fixed after 5+0", // one for both consumers
		"0SEND_F>1 on [0 1] lasts 2 fixed after 0+0",
		"2SEND_B>1 on [1 2] lasts 2 fixed after 9+0")
	if got := p.Duration(p.Op(12, 1)); got != 2 {
		t.Errorf("a transfer of a micro-batch with factor 3 lasts %d", got)
	}
	if got := p.Duration(p.Op(2, 1)); got != 9 {
		t.Errorf("a weight gradient with factor 3 lasts %d", got)
	}
	if got := p.Name(p.Op(14, 1)); got != "2SEND_B1>1" {
		t.Errorf("name %q", got)
	}
	if p.Identical {
		t.Error("Identical is true")
	}
}

// TestCompileBranches: two branches that join. Each receiver has a transfer of
// its own.
func TestCompileBranches(t *testing.T) {
	full := durations(1, none, none, 2)
	pl := chain(model.Fused, full, full, full)
	pl.Stages[1].After, pl.Stages[2].After = nil, []int{0, 1}
	pl.Latency, pl.Blocking = 4, true
	wantRows(t, pl,
		"0F on [0] lasts 1 memory [{5 0}]",
		"0B on [0] lasts 2 memory [{0 -5}] after 0+0 after 6+0",
		"1F on [1] lasts 1 memory [{5 0}]",
		"1B on [1] lasts 2 memory [{0 -5}] after 2+0 after 7+0",
		"2F on [2] lasts 1 memory [{5 0}] after 8+0 after 9+0",
		"2B on [2] lasts 2 memory [{0 -5}] after 4+0",
		"2SEND_B>0 on [0 2] lasts 4 fixed after 5+0",
		"2SEND_B>1 on [1 2] lasts 4 fixed after 5+0",
		"0SEND_F>2 on [0 2] lasts 4 fixed after 0+0",
		"1SEND_F>2 on [1 2] lasts 4 fixed after 2+0")
}

// TestCompileRoutes: two routes in opposite directions, three micro-batches on
// one and one on the other.
func TestCompileRoutes(t *testing.T) {
	pl := chain(model.Fused, durations(1, none, none, 2), durations(3, none, none, 4))
	pl.MicroBatches, pl.Routes = 4, []int{0, 1, 0, 0}
	pl.Latency = 5
	for s := range pl.Stages {
		pl.Stages[s].Static = model.Bytes(10 + s)
		again := pl.Stages[s].Replicas[0]
		again.Devices = []int{1 - s}
		again.Durations.Forward += 10
		pl.Stages[s].Replicas = append(pl.Stages[s].Replicas, again)
	}
	p := wantRows(t, pl,
		"0F on [0] lasts 1 memory [{5 0}]",
		"0B on [0] lasts 2 memory [{0 -5}] after 0+0 after 5+5",
		"0F route 1 on [1] lasts 11 memory [{5 0}]",
		"0B route 1 on [1] lasts 2 memory [{0 -5}] after 2+0 after 7+5",
		"1F on [1] lasts 3 memory [{5 0}] after 0+5",
		"1B on [1] lasts 4 memory [{0 -5}] after 4+0",
		"1F route 1 on [0] lasts 13 memory [{5 0}] after 2+5",
		"1B route 1 on [0] lasts 4 memory [{0 -5}] after 6+0")
	var names []string
	for op := range model.OpID(p.NumOps()) {
		names = append(names, p.Name(op))
	}
	want := "0F0 0F2 0F3 0B0 0B2 0B3 0F1 0B1 1F0 1F2 1F3 1B0 1B2 1B3 1F1 1B1"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("operations\n%s, want\n%s", got, want)
	}
	if want := []model.Bytes{21, 21}; !slices.Equal(p.Statics, want) {
		t.Errorf("static memory %v, want %v", p.Statics, want)
	}
}

// TestCompileSharedStage: a stage with one replica serves both routes, and a
// device that holds two replicas of a stage holds its parameters once.
func TestCompileSharedStage(t *testing.T) {
	pl := chain(model.Split, durations(1, none, none, none), durations(2, none, none, none))
	pl.Routes = []int{1, 1}
	pl.Stages[0].Activation, pl.Stages[1].Activation = 0, 0
	pl.Stages[0].FreedByInput, pl.Stages[1].FreedByInput = 0, 0
	pl.Stages[0].Static = 8
	pl.Stages[0].Replicas = append(pl.Stages[0].Replicas, pl.Stages[0].Replicas[0])
	p := wantRows(t, pl,
		"0F on [0] lasts 1", "0F route 1 on [0] lasts 1",
		"1F on [1] lasts 2 after 0+0", "1F route 1 on [1] lasts 2 after 1+0")
	if p.Statics[0] != 8 {
		t.Errorf("static memory %d", p.Statics[0])
	}
	if p.Count(0) != 0 || p.Count(1) != 2 || p.RowOf(0) != 1 || p.RowOf(2) != 3 {
		t.Error("a route without micro-batches has operations")
	}
}

// TestNumbering: the accessors agree with one another and with counting.
func TestNumbering(t *testing.T) {
	check := func(t *rapid.T, p *model.Problem) {
		next := model.OpID(0)
		for r := range p.Rows {
			if p.Base(r) != next {
				t.Fatalf("row %d begins at %d, want %d", r, p.Base(r), next)
			}
			index := 0
			if p.Rows[r].Single {
				if p.RowOf(next) != r || p.MicroBatch(next) != -1 || p.Index(next) != 0 || p.Duration(next) != p.Rows[r].Duration {
					t.Fatalf("operation %d is not that of row %d, once for the iteration", next, r)
				}
				next, index = next+1, 1
			}
			for m := range p.MicroBatches() {
				if p.Rows[r].Single {
					break
				}
				if p.Pipeline.Routes != nil && p.Pipeline.Routes[m] != p.Rows[r].Route {
					continue
				}
				if p.Op(r, m) != next || p.RowOf(next) != r || p.Row(next) != &p.Rows[r] || p.MicroBatch(next) != m || p.Index(next) != index {
					t.Fatalf("operation %d is not micro-batch %d of row %d", next, m, r)
				}
				if got := p.Duration(next); got != p.DurationIn(r, index) || got != wantDuration(p, r, m) {
					t.Fatalf("operation %d lasts %d", next, got)
				}
				next++
				index++
			}
			if p.Count(r) != index {
				t.Fatalf("row %d has %d operations, want %d", r, p.Count(r), index)
			}
		}
		if p.NumOps() != int(next) {
			t.Fatalf("%d operations, want %d", p.NumOps(), next)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, mustCompileRandom(t, rapid.Uint64().Draw(t, "seed")))
		check(t, modelgen.Unit(rapid.IntRange(1, 5).Draw(t, "devices"), rapid.IntRange(1, 70).Draw(t, "micro-batches")))
	})
}

func wantDuration(p *model.Problem, r, m int) model.Time {
	row := &p.Rows[r]
	if row.Fixed || p.Pipeline.Factors == nil {
		return row.Duration
	}
	return row.Duration * model.Time(p.Pipeline.Factors[m]) / model.Time(p.Pipeline.FactorScale)
}

// TestRowOfAtTheLimit divides the largest operation numbers.
func TestRowOfAtTheLimit(t *testing.T) {
	for _, m := range []int{1<<29 - 1, 1 << 29, 613566756, 715827882} {
		pl := chain(model.Split, durations(0, 0, 0, none))
		pl.MicroBatches = m
		if 3*m >= 1<<31 {
			pl.Stages[0].Replicas[0].Durations.BackwardWeight = none
		}
		p := mustCompile(t, pl)
		for r := range p.Rows {
			if first, last := p.Base(r), p.Op(r, m-1); p.RowOf(first) != r || p.RowOf(last) != r {
				t.Errorf("M=%d: operations %d and %d are in rows %d and %d, want %d", m, first, last, p.RowOf(first), p.RowOf(last), r)
			}
		}
	}
}

// TestSuccessors: Succs is the reverse of Preds, twins included.
func TestSuccessors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := mustCompileRandom(t, rapid.Uint64().Draw(t, "seed"))
		want := make([][]model.Succ, len(p.Rows))
		for r := range p.Rows {
			for _, pred := range p.Rows[r].Preds {
				for q := range p.Rows {
					if q == int(pred.Row) || q == int(p.Rows[pred.Row].Twin) {
						want[q] = append(want[q], model.Succ{Row: int32(r), Lag: pred.Lag})
					}
				}
			}
		}
		if diff := cmp.Diff(want, p.Succs); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestFactors(t *testing.T) {
	pl := chain(model.Split, durations(6, 0, 9, none))
	pl.Factors, pl.FactorScale = []int64{2, 5}, 3
	p := mustCompile(t, pl)
	var got []model.Time
	for op := range model.OpID(p.NumOps()) {
		got = append(got, p.Duration(op))
	}
	if want := []model.Time{4, 10, 0, 0, 6, 15}; !slices.Equal(got, want) {
		t.Errorf("durations %v, want %v", got, want)
	}
	pl.Factors = []int64{4, 4}
	if !mustCompile(t, pl).Identical {
		t.Error("equal factors are not identical")
	}
}
