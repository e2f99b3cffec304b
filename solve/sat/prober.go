package sat

import (
	"context"
	"time"

	"github.com/irifrance/gini"
	"github.com/irifrance/gini/inter"
	"github.com/irifrance/gini/z"

	"github.com/flexpipe/flexpipe/model"
)

// answer is the outcome of a probe.
type answer int

// The outcomes, as gini numbers them.
const (
	unsatisfiable answer = -1
	unanswered    answer = 0
	satisfiable   answer = 1
)

// prober is a formula in gini.
type prober struct {
	*encoding
	solver *gini.Gini
	low    model.Time // smaller values have been excluded by clauses
	top    model.Time // so have larger ones
}

// newProber hands a formula to gini. It returns nil if the context ends before.
func newProber(ctx context.Context, e *encoding) *prober {
	p := &prober{encoding: e, solver: gini.NewVc(int(e.variables), e.clauses), low: e.from, top: e.upTo}
	for i, l := range e.literals {
		if i%(1<<14) == 0 && ctx.Err() != nil {
			return nil
		}
		if l == 0 {
			p.solver.Add(z.LitNull)
			continue
		}
		p.solver.Add(z.Dimacs2Lit(int(l)))
	}
	return p
}

// narrow excludes the values below low and above top.
func (p *prober) narrow(low, top model.Time) {
	if low > p.low {
		p.low = low
		p.demand(-p.atMost(low - 1))
	}
	if top < p.top {
		p.top = top
		p.demand(p.atMost(top))
	}
}

// demand adds a clause of one literal.
func (p *prober) demand(l literal) {
	if l != yes && l != no {
		p.solver.Add(z.Dimacs2Lit(int(l)))
		p.solver.Add(z.LitNull)
	}
}

// Between two looks at the context lie pauses of doubling length.
const (
	firstPause = 20 * time.Microsecond
	lastPause  = 5 * time.Millisecond
)

// ask looks for a solution with a literal. It gives up when the context ends or
// moot says so. After the end of the context the prober must not be used.
func (p *prober) ask(ctx context.Context, l literal, moot func() bool) answer {
	if l != yes {
		p.solver.Assume(z.Dimacs2Lit(int(l)))
	}
	return await(ctx, p.solver.GoSolve(), moot)
}

func await(ctx context.Context, run inter.Solve, moot func() bool) answer {
	pause := firstPause
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return stop(ctx, run)
		case <-timer.C:
		}
		if result, done := run.Test(); done {
			return answer(result)
		}
		if moot() {
			return stop(ctx, run)
		}
		pause = min(2*pause, lastPause)
		timer.Reset(pause)
	}
}

// stop ends a run. gini looks up only every 20,000 propagations, which can take
// some tenths of a second: after the end of the context nobody waits for that.
func stop(ctx context.Context, run inter.Solve) answer {
	result := make(chan int, 1)
	go func() { result <- run.Stop() }()
	select {
	case r := <-result:
		return answer(r)
	case <-ctx.Done():
		return unanswered
	}
}

// contradictory reports whether the formula has no solution whatever is assumed,
// after an answer unsatisfiable. gini must not be asked again then: once a clause is
// added it does not remember.
func (p *prober) contradictory() bool { return len(p.solver.Why(nil)) == 0 }

// value returns the truth of a literal in the solution found last.
func (p *prober) value(l literal) bool { return p.solver.Value(z.Dimacs2Lit(int(l))) }
