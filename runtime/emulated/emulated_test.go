package emulated_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/emulated"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

var _ pipert.Backend = (*emulated.Backend)(nil)

// open opens a backend that the test closes, and an engine for it.
func open(t *testing.T, pr *lower.Program, o emulated.Options) (*emulated.Backend, *pipert.Engine) {
	t.Helper()
	b, err := emulated.Open(pr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	e, err := pipert.NewEngine(pr, b.Devices(), pipert.Options{Stall: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return b, e
}

// TestDurations runs random programs, with latencies or blocking transfers. However busy the
// machine is, no operation is shorter than the problem says, none starts before what it waits
// for has ended and come, and no iteration is shorter than predicted. Busy machines make the
// rest longer, so there is no upper limit here; BenchmarkEmulated tells how much longer.
func TestDurations(t *testing.T) {
	const tick = 50 * time.Microsecond
	for _, anchored := range []bool{false, true} {
		for seed := range uint64(24) {
			s := modelgen.Random(seed, 4)
			s.Blocking = seed%3 == 0
			s.Latency = model.Time(seed % 3)
			p := modelgen.Problem(s)
			plan, _ := modelgen.RandomPlan(p, seed)
			pr, err := lower.Lower(p, plan)
			if err != nil {
				t.Fatal(err)
			}
			b, e := open(t, pr, emulated.Options{Tick: tick, Dilation: 2, Anchored: anchored})
			for range 2 {
				record := iterate(t, t.Context(), b, e)
				if anchored {
					checkAnchored(t, pr, record, 2*int64(tick))
				} else {
					checkFree(t, pr, record, 2*int64(tick))
				}
			}
		}
	}
}

func checkFree(t *testing.T, pr *lower.Program, record *pipert.Record, tick int64) {
	t.Helper()
	p := pr.Problem
	for op := range model.OpID(p.NumOps()) {
		start, end := record.Start[op], record.End[op]
		if start < 0 {
			continue
		}
		if end-start < int64(p.Duration(op))*tick {
			t.Errorf("%s lasted %d ns, want at least %d ticks of %d", p.Name(op), end-start, p.Duration(op), tick)
		}
		for _, pred := range p.Row(op).Preds {
			first, last := p.PredOps(p.RowOf(op), p.Index(op), pred)
			for before := first; before < last; before++ {
				if record.End[before] >= 0 && start < record.End[before]+int64(pred.Lag)*tick {
					t.Errorf("%s started %d ns after %s had ended, want %d ticks", p.Name(op), start-record.End[before], p.Name(before), pred.Lag)
				}
			}
		}
	}
	if want := predict(t, pr, float64(tick)); record.Makespan < want {
		t.Errorf("makespan %v, predicted %v", record.Makespan, want)
	}
}

// checkAnchored tests that ends are as far from the first operation's start as predicted. The
// anchor is set a moment after the engine has stamped that start.
func checkAnchored(t *testing.T, pr *lower.Program, record *pipert.Record, tick int64) {
	t.Helper()
	p := pr.Problem
	tl, err := model.Evaluate(p, pr.Plan)
	if err != nil {
		t.Fatal(err)
	}
	first := int64(math.MaxInt64)
	for op := range model.OpID(p.NumOps()) {
		if record.Start[op] >= 0 {
			first = min(first, record.Start[op]-int64(tl.Start[op])*tick)
		}
	}
	for op := range model.OpID(p.NumOps()) {
		if record.Start[op] >= 0 && record.End[op] < first+int64(tl.End(p, op))*tick {
			t.Errorf("%s ended at %d, predicted %d", p.Name(op), record.End[op]-first, int64(tl.End(p, op))*tick)
		}
	}
}

// TestDelays has an operation wait for a while after one on its own device, which no message
// says.
func TestDelays(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 2, MicroBatches: 2, Backward: model.Fused, Latency: 3})
	pl.Operations = []model.Operation{{
		Name: "all_reduce", Letter: "R", Stage: 0, Single: true, Duration: 4,
		After: []model.Ref{{Kind: model.Backward, Stage: 0, Lag: 30}},
	}}
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	plan, _ := modelgen.RandomPlan(p, 1)
	pr, err := lower.Lower(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	b, e := open(t, pr, emulated.Options{Tick: 100 * time.Microsecond})
	reduce, err := p.ParseOp("0R")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		record := iterate(t, t.Context(), b, e)
		for m := range 2 {
			back, err := p.ParseOp([]string{"0B0", "0B1"}[m])
			if err != nil {
				t.Fatal(err)
			}
			// Reckoned from its start: the device sees its end a moment before the engine does.
			want := 34 + int64(p.Duration(back))
			if took := record.End[reduce] - record.Start[back]; took < want*int64(100*time.Microsecond) {
				t.Errorf("0R ended %d ns after the start of micro-batch %d, want %d ticks of 100 us", took, m, want)
			}
		}
	}
}

// TestCancel ends an iteration whose operations would last for hours.
func TestCancel(t *testing.T) {
	pr := lowered(t, modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2, Backward: model.Fused}))
	_, e := open(t, pr, emulated.Options{Tick: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := e.Run(ctx)
	var f *pipert.Fault
	if !errors.As(err, &f) || !errors.Is(err, context.DeadlineExceeded) || f.Left != nil {
		t.Errorf("got %v, want a run that ends at its deadline with no operation left", err)
	}
}

// TestProcessors has a backend leave the process as it was.
func TestProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	pr := lowered(t, modelgen.Problem(modelgen.Spec{Devices: 4, MicroBatches: 4, Backward: model.Fused}))
	b, err := emulated.Open(pr, emulated.Options{Tick: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	if n := runtime.GOMAXPROCS(0); n != 8 {
		t.Errorf("%d processors with 4 devices, want 8", n)
	}
	step, err := b.Finish()
	if err != nil || !math.IsNaN(step.Loss) || step.Memory != nil {
		t.Errorf("step %+v, error %v", step, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if n := runtime.GOMAXPROCS(0); n != 3 {
		t.Errorf("%d processors after it, want 3", n)
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		unit     model.Unit
		tick     time.Duration
		dilation float64
		perTick  float64
		suggest  float64 // with operations of 3 ticks or more
		label    string
	}{
		{model.Unit{}, time.Millisecond, 1, 1e6, 2, "emulated(free) durations=tick:1ms dilation=1"},
		{model.Unit{Name: "tick", Multiplier: 1, Divisor: 4}, time.Millisecond, 2, 5e5, 7, "emulated(free) durations=tick:1ms dilation=2"},
		{model.Unit{Name: "us", Multiplier: 5, Divisor: 2}, 0, 1, 2500, 667, "emulated(free) durations=us dilation=1"},
		{model.Unit{Name: "ms"}, time.Hour, 0.5, 5e5, 2, "emulated(free) durations=ms dilation=0.5"},
		{model.Unit{Name: "s"}, 0, 1e-3, 1e6, 1, "emulated(free) durations=s dilation=0.001"},
	} {
		pl := modelgen.Pipeline(modelgen.Spec{Devices: 1, MicroBatches: 1, F: []model.Time{3}, I: []model.Time{4}, W: []model.Time{0}})
		pl.TimeUnit = c.unit
		p, err := model.Compile(pl)
		if err != nil {
			t.Fatal(err)
		}
		perTick, err := emulated.Scale(p, c.tick, c.dilation)
		if err != nil || perTick != c.perTick {
			t.Errorf("%s: %v ns, error %v, want %v", c.label, perTick, err, c.perTick)
		}
		plan, _ := modelgen.RandomPlan(p, 1)
		if got, err := emulated.SuggestDilation(p, plan, c.tick); err != nil || got != c.suggest {
			t.Errorf("%s: suggests a dilation of %v, error %v, want %v", c.label, got, err, c.suggest)
		}
		pr, err := lower.Lower(p, plan)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := open(t, pr, emulated.Options{Tick: c.tick, Dilation: c.dilation})
		if b.Label() != c.label || b.Name() != "emulated" || b.PerTick() != c.perTick {
			t.Errorf("label %q, want %q", b.Label(), c.label)
		}
	}
}

func TestRefusals(t *testing.T) {
	pr := lowered(t, modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2, Backward: model.Fused}))
	for _, c := range []struct {
		options emulated.Options
		want    string
	}{
		{emulated.Options{}, "emulated: the costs are in ticks, which have no length: say how long one lasts"},
		{emulated.Options{Tick: 1, Dilation: -2}, "emulated: a dilation of -2: it must be above 0"},
		{emulated.Options{Tick: 1, Dilation: math.Inf(1)}, "emulated: a dilation of +Inf: it must be above 0"},
		{emulated.Options{Tick: time.Hour, Dilation: 1e9}, "emulated: operations of 4.32e+13 s in all with a dilation of 1e+09: choose a smaller one"},
	} {
		_, err := emulated.Open(pr, c.options)
		if err == nil || err.Error() != c.want {
			t.Errorf("%+v: got %v, want %s", c.options, err, c.want)
		}
	}
}

func TestAnchoredLabel(t *testing.T) {
	pr := lowered(t, modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2, Backward: model.Fused}))
	b, _ := open(t, pr, emulated.Options{Tick: time.Millisecond, Anchored: true})
	if want := "emulated(anchored: ends as predicted by construction) durations=tick:1ms dilation=1"; b.Label() != want {
		t.Errorf("label %q, want %q", b.Label(), want)
	}
}

// TestDilationIsBounded has one operation of a nanosecond among long ones: 5 ms for it would keep
// the device at work for a day.
func TestDilationIsBounded(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 1, MicroBatches: 1, F: []model.Time{1}, I: []model.Time{1_999_999}, W: []model.Time{2_000_000}})
	pl.TimeUnit = model.Unit{Name: "ns", Multiplier: 5, Divisor: 1}
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	plan, _ := modelgen.RandomPlan(p, 1)
	if got, err := emulated.SuggestDilation(p, plan, 0); err != nil || got != 500 { // 20 ms · 500 = 10 s
		t.Errorf("suggests %v, error %v, want 500", got, err)
	}
}
