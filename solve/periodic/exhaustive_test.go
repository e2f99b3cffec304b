package periodic

import (
	"context"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// exhaustive tries all starts of a micro-batch up to a span, and asks the judge
// about the schedule that repeats them: it shares no reasoning with the search.
type exhaustive struct {
	p      *model.Problem // some ten micro-batches
	order  []int32
	period model.Time
	starts []model.Time
}

// try reports whether a pattern has a span of at most span.
func (e *exhaustive) try(i int, span model.Time) bool {
	if i == len(e.order) {
		return e.legal()
	}
	r := e.order[i]
	first := model.Time(0)
	for _, pred := range e.p.Rows[r].Preds {
		first = max(first, e.starts[pred.Row]+e.p.Rows[pred.Row].Duration+pred.Lag)
	}
	for s := first; s+e.p.Rows[r].Duration <= span; s++ {
		e.starts[r] = s
		if e.free(i) && e.try(i+1, span) {
			return true
		}
	}
	return false
}

// free reports whether row number i meets none before it on any device.
func (e *exhaustive) free(i int) bool {
	r := e.order[i]
	for _, q := range e.order[:i] {
		if e.p.Rows[q].Devices[0] != e.p.Rows[r].Devices[0] {
			continue
		}
		gap := ((e.starts[r]-e.starts[q])%e.period + e.period) % e.period
		if gap < e.p.Rows[q].Duration || gap > e.period-e.p.Rows[r].Duration {
			return false
		}
	}
	return true
}

// legal has the judge look at the schedule, at exactly these times.
func (e *exhaustive) legal() bool {
	tl := &model.Timeline{Start: make([]model.Time, e.p.NumOps())}
	for op := range tl.Start {
		r := e.p.RowOf(model.OpID(op))
		tl.Start[op] = e.starts[r] + e.period*model.Time(e.p.Index(model.OpID(op)))
	}
	plan := (&Pattern{Period: e.period, Starts: e.starts}).Unroll(e.p)
	return constraints.Check(e.p, plan, tl).OK()
}

func TestAgainstAllStarts(t *testing.T) {
	compared := 0
	for seed := uint64(0); compared < 150; seed++ {
		p := small(seed)
		if p == nil || len(p.Rows) > 6 {
			continue
		}
		p.Pipeline.MicroBatches = 12
		p, err := model.Compile(p.Pipeline)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Find(context.Background(), p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		e := &exhaustive{p: p, order: p.RowOrder(nil), period: got.Period, starts: make([]model.Time, len(p.Rows))}
		if !e.try(0, got.Span) {
			t.Fatalf("seed %d: period %d, span %d: the judge accepts none", seed, got.Period, got.Span)
		}
		if e.try(0, got.Span-1) {
			t.Fatalf("seed %d: period %d: span %d, there is a shorter one: %v", seed, got.Period, got.Span, e.starts)
		}
		if e.period--; e.period >= newInstance(p, allSplit).work && e.try(0, min(got.Span+3, 16)) {
			t.Fatalf("seed %d: period %d, there is a shorter one: %v", seed, got.Period, e.starts)
		}
		compared++
	}
}
