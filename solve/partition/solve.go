package partition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve/lp"
)

// A Method is a way to solve.
type Method uint8

// The methods.
const (
	Auto           Method = iota // the dynamic program, and where it would take too many steps the integer program
	DynamicProgram               // a frontier of boundaries, exact in all of the score
	IntegerProgram               // branch and bound, exact in Busiest; a descent improves the rest
)

var methodNames = []string{"auto", "dynamic program", "integer program"}

func (m Method) String() string { return methodNames[m] }

// Options steer a solve. The zero value is valid.
type Options struct {
	Method Method
	// LP solves the relaxations of the integer program; nil means lp.Gonum. With
	// that, 24 stages of equal blocks take some ten milliseconds if there is no choice of
	// recomputation; with one, only a few layers on a few stages are solved to the
	// end, so give the context a deadline.
	LP lp.Solver
	// MaxSteps bounds the ranges that one sweep of the dynamic program tries; 0
	// means DefaultSteps. More is a matter for the integer program.
	MaxSteps int
	// MaxNodes bounds the relaxations of the integer program; 0: no limit.
	MaxNodes int
	// Plain leaves out what an InfeasibleError says beyond that no choice fits, which
	// takes searches of its own.
	Plain bool
}

// DefaultSteps is a sweep of a few seconds.
const DefaultSteps = 1 << 26

func (o *Options) steps() int {
	if o.MaxSteps > 0 {
		return o.MaxSteps
	}
	return DefaultSteps
}

func (o *Options) solver() lp.Solver {
	if o.LP != nil {
		return o.LP
	}
	return lp.Gonum()
}

// A Result is a choice that keeps all limits.
type Result struct {
	Choice
	Score Score
	Usage []Usage // by device
	// Bound is what the busiest device has to do whatever the choice.
	Bound int64
	// Proved says that Score.Busiest meets Bound; where an integer program has to work
	// in floating point, up to Precision of it.
	Proved bool
	// Method is what found the bound.
	Method Method
}

// String says how good the choice is, in one line.
func (r *Result) String() string {
	state := "proved"
	if !r.Proved {
		state = fmt.Sprintf("not proved, at least %d, gap %s", r.Bound, model.Percent(r.Score.Busiest-r.Bound, r.Score.Busiest))
	}
	return fmt.Sprintf("layers %v, recompute %v, devices %v: busiest %d (%s by the %s)",
		[]int(r.Cut), r.Recompute, r.Devices, r.Score.Busiest, state, r.Method)
}

// Precision is how far, relative to Busiest, the bound of an integer program may be
// from it through rounding alone. It is exact up to 100,000 ticks, or steps in which
// all work is whole.
const Precision = 1e-5

// An UndecidedError says that a limit came before any choice was found.
type UndecidedError struct {
	Bound int64 // no choice has a lower Busiest
	Cause error // of the context; nil if a limit of Options ended the search
}

func (e *UndecidedError) Error() string {
	return fmt.Sprintf("partition: no choice found within the limits of the search, nor that there is none; the busiest device has to do %d at least: give more time, or allow more recomputation", e.Bound)
}

func (e *UndecidedError) Unwrap() error { return e.Cause }

// Solve returns the choice of least score. If the context ends the search, it returns
// the best choice so far or that a quick look finds, with what is known as Bound. If
// the dynamic program finds the least Busiest, but would take too many steps for the
// rest of the score, a descent has to do for that.
//
// With L layers, S stages, R modes of recomputation and one stage per device it takes
// O(R·S·L·w) for each of a few sweeps, where w is the most layers that a device
// takes; twice as many stages as devices cost a further factor of L·w for v, and L²·w for
// loop. See [Options] for the integer program.
//
// Errors: a [*ProblemError], an [*InfeasibleError] if no choice keeps the limits, an
// [*UndecidedError], and those of the linear solver.
func Solve(ctx context.Context, p *Problem, o Options) (*Result, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	f := newFrontier(p)
	if o.Method != IntegerProgram && f.narrow {
		list, err := f.best(ctx, 1, o.steps())
		switch {
		case err == nil && len(list) == 0:
			return nil, f.infeasible(ctx, o)
		case err == nil:
			return newResult(p, list[0], math.MaxInt64, DynamicProgram), nil
		case ctx.Err() != nil || f.found != nil:
			return f.quick(ctx)
		}
	}
	if o.Method == DynamicProgram {
		return f.quick(ctx)
	}
	return f.integer(ctx, o)
}

// newResult evaluates a choice. A bound above its value means that it is proved.
func newResult(p *Problem, c Choice, bound int64, m Method) *Result {
	r := &Result{Choice: c, Method: m}
	r.Score, r.Usage = Evaluate(p, &c)
	r.Bound = min(bound, r.Score.Busiest)
	r.Proved = r.Bound == r.Score.Busiest
	return r
}

// best returns the k best choices in order. It first finds the value of the k-th, and
// then, with all that exceed it out of the way, those of this value and those
// below, which are fewer than k. The two steps are needed because a sum decides between
// choices only if their busiest devices agree; sums alone, and the maximum alone,
// can be decided slot by slot.
func (f *frontier) best(ctx context.Context, k, steps int) ([]Choice, error) {
	q := query{keep: k, floor: -1, byBusiest: true, budget: steps}
	list, err := f.ladder(ctx, q)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	score, _ := Evaluate(f.p, &list[0])
	f.bound, f.found = score.Busiest, &list[0]
	score, _ = Evaluate(f.p, &list[len(list)-1])
	q.byBusiest = false
	var below []Choice
	if k > 1 {
		q.limit = score.Busiest - 1
		if below, err = f.run(ctx, q); err != nil {
			return nil, err
		}
	}
	q.limit, q.floor = score.Busiest, score.Busiest-1
	equal, err := f.run(ctx, q)
	if err != nil {
		return nil, err
	}
	list = append(below, equal...)
	f.p.sort(list)
	return list[:min(k, len(list))], nil
}

// rungs are the limits of a ladder, as 64ths above the bound. Low limits leave few
// states; that they are met is usual.
var rungs = []int64{1, 4, 16, 64, 256}

// ladder runs q with higher and higher limits until there are q.keep choices. If a rung
// takes too many steps, what the one before has found is complete up to its
// limit, and has to do.
func (f *frontier) ladder(ctx context.Context, q query) ([]Choice, error) {
	bound := f.bound
	var before []Choice
	for i := 0; ; i++ {
		q.limit = maxTotal
		if i < len(rungs) {
			q.limit = min(maxTotal, bound+bound/64*rungs[i]+bound%64*rungs[i]/64)
		}
		list, err := f.run(ctx, q)
		switch {
		case err == errBudget && len(before) > 0:
			return before, nil
		case err != nil || len(list) >= q.keep || q.limit == maxTotal:
			return list, err
		}
		if len(list) == 0 {
			f.bound = max(f.bound, q.limit+1)
		}
		before = list
	}
}

// loadBound returns the least time in which the devices together can do all layers,
// one of them the heaviest, whole layers or not.
func (f *frontier) loadBound() int64 {
	var factors []int64
	for _, d := range f.p.Devices {
		factors = append(factors, d.factor())
	}
	slices.Sort(factors)
	factors = factors[:len(f.slots)]
	heaviest := int64(0)
	for i := range f.n {
		heaviest = max(heaviest, f.t.leastWork(i, i+1))
	}
	low, high := heaviest*factors[0], f.t.least[f.n]*factors[0]
	for low < high {
		middle := low + (high-low)/2
		done := int64(0)
		for _, factor := range factors {
			done = min(maxTotal, done+middle/factor)
		}
		if done >= f.t.least[f.n] {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// Limits of a quick look.
const (
	quickQuota = 16
	quickSteps = 1 << 20
)

// look returns the choice of least Busiest if it is known, else one that a narrow sweep
// finds, nil if it finds none. A descent improves the rest of the score.
func (f *frontier) look() *Choice {
	if f.found != nil {
		f.p.descend(f.found)
		return f.found
	}
	known := f.bound
	defer func() { f.bound = known }() // a narrow sweep proves nothing
	q := query{keep: 1, floor: -1, byBusiest: true, quota: quickQuota, budget: quickSteps}
	list, err := f.ladder(context.Background(), q)
	if err != nil || len(list) == 0 {
		return nil
	}
	f.p.descend(&list[0])
	return &list[0]
}

// quick returns what a quick look finds once the context has ended.
func (f *frontier) quick(ctx context.Context) (*Result, error) {
	if c := f.look(); c != nil {
		return newResult(f.p, *c, f.bound, DynamicProgram), nil
	}
	return nil, &UndecidedError{f.bound, ctx.Err()}
}

// sort orders choices by score, then by what they choose.
func (p *Problem) sort(list []Choice) {
	type scored struct {
		Choice
		score Score
	}
	all := make([]scored, len(list))
	for i, c := range list {
		all[i].Choice = c
		all[i].score, _ = Evaluate(p, &c)
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(a.score.Compare(b.score), compareChoices(&a.Choice, &b.Choice))
	})
	for i := range all {
		list[i] = all[i].Choice
	}
}

// isLimit reports whether an error is a limit of the search.
func isLimit(err error) bool {
	return errors.Is(err, errBudget) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
