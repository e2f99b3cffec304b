package lcg

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// board is what the workers of a solve share: the best plan and the best bound. A
// worker reads bounds to choose what to try next, never as facts, so that each
// proof stands alone.
type board struct {
	f *form
	o solve.Options

	mu     sync.Mutex
	result *solve.Result
	hint   *hint // of the best plan, nil without any
	late   bool  // a schedule meets the bound that no plan says, see solve.LateStarts
	fault  error
	cancel context.CancelFunc
	count  []int64 // by worker: conflicts
}

func newBoard(p *model.Problem, r *solve.Result, o solve.Options) (*board, error) {
	b := &board{f: newForm(p), o: o, result: r}
	if o.Incumbent != nil {
		if err := b.offer(o.Incumbent); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// offer proposes a plan.
func (b *board) offer(plan *model.Plan) error {
	better, err := b.result.Offer(b.f.p, plan, Name)
	if err != nil {
		return fmt.Errorf("a plan of %s: %w", Name, err)
	}
	if better {
		b.hint = newHint(b.f, b.result.Plan, b.result.Timeline)
		b.report()
	}
	return nil
}

func (b *board) report() {
	if b.o.Progress == nil {
		return
	}
	p := solve.Progress{Engine: Name, Value: model.Absent, Bound: b.result.Bound, Conflicts: b.conflicts()}
	if b.result.Plan != nil {
		p.Value = b.result.Value
	}
	b.o.Progress(p)
}

func (b *board) conflicts() int64 {
	sum := int64(0)
	for _, n := range b.count {
		sum += n
	}
	return sum
}

func (b *board) done() bool {
	return b.fault != nil || b.late || b.result.Status == solve.Optimal || b.result.Status == solve.Infeasible
}

// window returns the bounds between which the best value lies: at least lo, and
// below hi there is no plan yet.
func (b *board) window() (lo, hi int64, h *hint, done bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	hi = b.f.horizon + 1
	if b.result.Plan != nil {
		hi = int64(b.result.Value)
	}
	return int64(b.result.Bound), hi, b.hint, b.done()
}

// found proposes the schedule that a search holds for a target. The plan may be worse
// than that only for the span; if the target is the bound, the search is over.
func (b *board) found(plan *model.Plan, target int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.hint
	err := b.offer(plan)
	if err == nil && int64(b.result.Value) > target && !b.f.span {
		err = fmt.Errorf("the schedule found for %d gives a plan of %d: this is a fault of the engine", target, b.result.Value)
	}
	if err == nil && int64(b.result.Value) > target && target <= int64(b.result.Bound) && b.hint == before {
		b.late = true
		b.result.Reason = solve.LateStarts
	}
	b.fail(err)
}

// raise notes what a search has proved.
func (b *board) raise(s *search) {
	b.mu.Lock()
	defer b.mu.Unlock()
	proof := solve.SearchProof
	low := model.Time(s.lo(0))
	if s.impossible {
		if s.trace != nil && s.trace.Lower() == solve.Excluded {
			proof = solve.CheckedProof
		}
		b.fail(b.result.Exclude(Name, proof))
		return
	}
	if s.trace != nil && s.trace.Lower() >= low {
		proof = solve.CheckedProof
	}
	before := b.result.Bound
	b.fail(b.result.Raise(low, Name, proof))
	if b.result.Bound > before {
		b.report()
	}
}

func (b *board) fail(err error) {
	if err != nil && b.fault == nil {
		b.fault = err
	}
	if b.done() && b.cancel != nil {
		b.cancel()
	}
}

// run lets workers search until they are done or the context ends.
func (b *board) run(ctx context.Context, workers int) {
	ctx, b.cancel = context.WithCancel(ctx)
	defer b.cancel()
	b.count = make([]int64, workers)
	var group sync.WaitGroup
	var panicked any
	for i := range workers {
		group.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					b.mu.Lock()
					panicked = fmt.Sprintf("%v\n%s", r, debug.Stack())
					b.mu.Unlock()
					b.cancel()
				}
			}()
			b.work(ctx, i, workers)
		})
	}
	group.Wait()
	if panicked != nil {
		panic(panicked) // in the caller's goroutine, where it can be recovered
	}
	b.result.Stats.Conflicts = b.conflicts()
}
