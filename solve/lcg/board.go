package lcg

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// board is what the workers of a solve share: the best plan and the best bound. They
// work in rounds of a fixed amount of work each. Within a round a worker knows only
// what was known when it began and what it finds itself; then the findings are taken
// over in the order of the workers. So the result does not depend on how fast each one
// is. Workers read bounds to choose what to try next, never as facts: each proof
// stands alone.
type board struct {
	f      *form
	o      solve.Options
	result *solve.Result
	hint   *hint // of the best plan, nil without any
	late   bool  // a schedule meets the bound, but no plan: see solve.LateStarts

	workers []*worker
}

// Work of a round, in units of about one propagated bound.
const (
	firstRound = 30_000
	lastRound  = 500_000
)

func newBoard(p *model.Problem, r *solve.Result, o solve.Options) *board {
	b := &board{f: newForm(p), o: o, result: r}
	if r.Plan != nil {
		b.hint = newHint(b.f, r.Plan, r.Timeline)
	}
	return b
}

// offer proposes a plan.
func (b *board) offer(plan *model.Plan) error {
	better, err := b.result.Offer(b.f.p, plan, Name)
	if err != nil {
		return fmt.Errorf("a plan of %s: %w", Name, err)
	}
	if better {
		b.hint = newHint(b.f, b.result.Plan, b.result.Timeline)
	}
	return nil
}

func (b *board) done() bool {
	return b.late || b.result.Status == solve.Optimal || b.result.Status == solve.Infeasible
}

// run searches until all is done or the context ends.
func (b *board) run(ctx context.Context, workers int) error {
	for i := range workers {
		if ctx.Err() != nil {
			return nil
		}
		b.workers = append(b.workers, newWorker(b, i, workers))
	}
	for units := int64(firstRound); !b.done() && ctx.Err() == nil; units = min(lastRound, units*3/2) {
		b.round(ctx, units)
		if err := b.merge(); err != nil {
			return err
		}
		b.report()
	}
	return nil
}

// round lets all workers work. One that closes the gap ends the round for those behind
// it; those before it might have come to an equal plan, which then counts.
func (b *board) round(ctx context.Context, units int64) {
	var group sync.WaitGroup
	panicked := make([]any, len(b.workers))
	cancels := make([]context.CancelFunc, len(b.workers))
	contexts := make([]context.Context, len(b.workers))
	for i := range b.workers {
		contexts[i], cancels[i] = context.WithCancel(ctx)
		defer cancels[i]()
	}
	for i, w := range b.workers {
		w.begin(b)
		group.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					panicked[i] = fmt.Sprintf("%v\n%s", r, debug.Stack())
				}
			}()
			w.turn(contexts[i], units)
			if w.closed() {
				for k := range b.workers {
					if k > i || !w.better() {
						cancels[k]()
					}
				}
			}
		})
	}
	group.Wait()
	for _, p := range panicked {
		if p != nil {
			panic(p) // in the caller's goroutine, where it can be recovered
		}
	}
}

// merge takes over what the workers found.
func (b *board) merge() error {
	for _, w := range b.workers {
		if w.fault != nil {
			return w.fault
		}
		if w.plan != nil {
			if err := b.offer(w.plan); err != nil {
				return err
			}
		}
	}
	for _, w := range b.workers {
		if err := b.raise(w); err != nil {
			return err
		}
	}
	b.late = b.late || !b.done() && b.over()
	if b.late {
		b.result.Reason = solve.LateStarts
	}
	return nil
}

// over reports whether a schedule meets the bound and no plan better than the best does.
func (b *board) over() bool {
	var up, down bool
	for _, w := range b.workers {
		for _, t := range w.tactics {
			up, down = up || t.over && t.up, down || t.over && !t.up
		}
	}
	return up && down
}

// raise notes what a worker's searches have proved.
func (b *board) raise(w *worker) error {
	for _, s := range w.searches() {
		if s.early {
			continue
		}
		if s.impossible {
			return b.result.Exclude(Name, s.proof(solve.Excluded))
		}
		low := model.Time(s.lo(0))
		if err := b.result.Raise(low, Name, s.proof(low)); err != nil {
			return err
		}
	}
	return nil
}

// proof says what a bound that a search proved rests on.
func (s *search) proof(value model.Time) solve.Proof {
	if s.trace != nil && s.trace.Lower() >= value {
		return solve.CheckedProof
	}
	return solve.SearchProof
}

func (b *board) report() {
	b.result.Stats = solve.Stats{}
	for _, w := range b.workers {
		for _, s := range w.searches() {
			b.result.Stats.Conflicts += s.conflicts
			b.result.Stats.Learned += s.learned
		}
	}
	if b.o.Progress == nil {
		return
	}
	p := solve.Progress{Engine: Name, Value: model.Absent, Bound: b.result.Bound, Conflicts: b.result.Stats.Conflicts}
	if b.result.Plan != nil {
		p.Value = b.result.Value
	}
	b.o.Progress(p)
}
