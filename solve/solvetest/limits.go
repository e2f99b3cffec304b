package solvetest

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// same tests that two runs with one worker, side by side, give the same result.
func (c *conformance) same(t *testing.T) {
	for _, x := range c.searched(4) {
		var results [2]*solve.Result
		var group sync.WaitGroup
		for i := range results {
			group.Go(func() {
				results[i], _ = c.engine.Solve(t.Context(), x.problem, solve.Options{Seed: 7, Workers: 1})
			})
		}
		group.Wait()
		if results[0] == nil || !reflect.DeepEqual(results[0], results[1]) {
			t.Errorf("%s: two runs differ:\n%+v\n%+v", x.name, results[0], results[1])
		}
	}
}

// progress tests how an engine tells its progress.
func (c *conformance) progress(t *testing.T) {
	told := 0
	for i, x := range c.searched(3) {
		var inside atomic.Bool
		last := solve.Progress{Value: model.Absent}
		r := c.solve(t, &x, solve.Options{Workers: 1 + i%3, Progress: func(p solve.Progress) {
			if !inside.CompareAndSwap(false, true) {
				t.Errorf("%s: Progress is called from two goroutines at a time", x.name)
			}
			told++
			if p.Bound < last.Bound || p.Conflicts < last.Conflicts || last.Value != model.Absent && (p.Value == model.Absent || p.Value > last.Value) {
				t.Errorf("%s: progress %+v, then %+v", x.name, last, p)
			}
			last = p
			inside.Store(false)
		}})
		if last.Value != model.Absent && (r.Plan == nil || last.Value < r.Value) || last.Bound > r.Bound {
			t.Errorf("%s: the last progress is %+v, the result has value %d, bound %d", x.name, last, r.Value, r.Bound)
		}
	}
	if told == 0 {
		t.Error("no progress was told")
	}
}

// late is how long after the context's end an engine may answer.
const late = 300 * time.Millisecond

// deadline tests that an engine answers when its time is up.
func (c *conformance) deadline(t *testing.T) {
	for _, limit := range []time.Duration{0, 3 * time.Millisecond, 40 * time.Millisecond, 400 * time.Millisecond, 1500 * time.Millisecond} {
		for _, workers := range []int{1, 2} {
			c.within(t, limit, func() (context.Context, context.CancelFunc) {
				return context.WithTimeout(t.Context(), limit)
			}, workers)
		}
	}
}

// cancel tests that an engine answers when it is interrupted.
func (c *conformance) cancel(t *testing.T) {
	for _, after := range []time.Duration{0, 100 * time.Millisecond, 700 * time.Millisecond} {
		c.within(t, after, func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			timer := time.AfterFunc(after, cancel)
			return ctx, func() { timer.Stop(); cancel() }
		}, 1)
	}
}

// within tests that an engine ends with its context. As a machine may be busy
// otherwise, it has three tries.
func (c *conformance) within(t *testing.T, after time.Duration, newContext func() (context.Context, context.CancelFunc), workers int) {
	t.Helper()
	if c.refused(t, "hard", c.o.Hard) {
		t.Skip("the engine refuses the hard problem")
	}
	for range 3 {
		ctx, cancel := newContext()
		start := time.Now()
		r, err := c.engine.Solve(ctx, c.o.Hard, solve.Options{Seed: 3, Workers: workers})
		took := time.Since(start)
		early := ctx.Err() == nil
		cancel()
		if err != nil {
			t.Fatalf("%v: %v", after, err)
		}
		judge(t, "hard", c.o.Hard, r)
		if early && r.Status != solve.Optimal && r.Status != solve.Infeasible {
			t.Logf("the search ended by itself with status %v after %v: %s", r.Status, took, r.Reason)
		}
		if !early && r.Status != solve.Optimal && r.Reason == "" {
			t.Errorf("%v: status %v without a reason", after, r.Status)
		}
		if took <= after+late {
			return
		}
		t.Logf("with %d workers and a context that ends after %v, the engine answers after %v", workers, after, took)
	}
	t.Errorf("with %d workers and a context that ends after %v, the engine answers late, three times", workers, after)
}
