package tune

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/solve"
)

// Options steer a tuning. The time limit is the context's.
type Options struct {
	Seed        uint64
	Workers     int            // goroutines, at least 1; does not change what is found
	Evaluations int            // points decoded at most; 0: one in a hundred, at least 400
	Top         int            // rows of the result; 0: 10
	Finalists   int            // shapes handed to the portfolio of solvers; 0: 3, negative: none
	Building    time.Duration  // for making the shapes, those left then being passed over; 0: as long as the context lasts
	Solving     time.Duration  // for each finalist; 0: as long as the context lasts
	Progress    func(Progress) // may be nil; called from one goroutine at a time

	// Start is a point to compare with and to beat, which need not be of the space; nil:
	// the configuration as it stands, see Result.ReferenceName. Its objective and its
	// direction hold for all rows.
	Start *cssr.Point
}

// Progress tells how far a tuning is.
type Progress struct {
	Stage  string  // what is going on
	Done   int     // points decoded, or finalists solved
	Limit  int     // at most
	Best   float64 // in the configuration's unit, 0 if there is no plan yet
	Points int     // of the space
}

// Result is what a tuning found.
type Result struct {
	Rows     []Row // the best plan of each of the best shapes, in order; empty if nothing fits
	Fallback bool  // no plan of the space was found, and the only row is the reference

	Reference     *Row   // of Options.Start; nil if that does not fit
	ReferenceName string // such as "1f1b as configured"

	Points    int // of the space, alike ones counted once
	Shapes    int // of the space
	Evaluated int // points decoded
	Pruned    int // not decoded, of shapes whose floor is not below the best value found, hence never better
	Refused   int // shapes that the configuration does not allow
	TooLarge  int // shapes that memory does not allow, by proof
	NoOrder   int // shapes of which no order or partition was found that fits, without proof that there is none
	Unbuilt   int // shapes that the context left no time for

	Reason string // why there are no rows, or what ended the search
}

// Row is a plan of the space.
type Row struct {
	Point   cssr.Point
	Problem *model.Problem
	Result  *solve.Result // judged; Bound is for the problem of this row
	Value   float64       // of the objective, in the configuration's unit
	Account Account
}

// Tune searches the space of a configuration for the plans with the smallest
// objective for an iteration of the same batch. It decodes a part of the points and
// solves the best few problems; no promise is made about points that it neither
// decodes nor prunes. The same options give the same rows, unless the context ends
// the search or the solving of a finalist.
//
// Errors: a *[SpaceError], a *config.Error for a configuration that cannot be built
// as it stands for another reason than memory; else faults of the program.
func Tune(ctx context.Context, cfg *config.Config, space cssr.Space, o Options) (*Result, error) {
	o.Workers, o.Top = max(1, o.Workers), or0(o.Top, 10)
	g, err := newGrid(cfg, space, o.Start)
	if err != nil {
		return nil, err
	}
	t := &tuning{g: g, o: o, result: &Result{}}
	if err := t.build(ctx); err != nil {
		return nil, err
	}
	if err := t.refer(ctx); err != nil {
		return nil, err
	}
	if err := t.explore(ctx); err != nil {
		return nil, err
	}
	if err := t.refine(ctx); err != nil {
		return nil, err
	}
	t.settle(ctx)
	return t.result, nil
}

// within returns a context that ends after a time, unless that is 0.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit > 0 {
		return context.WithTimeout(ctx, limit)
	}
	return context.WithCancel(ctx)
}

func or0(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// tuning is one call of Tune.
type tuning struct {
	g        *grid
	o        Options
	result   *Result
	shapes   []*shape
	explorer *explorer
}

func (t *tuning) report(p Progress) {
	if t.o.Progress != nil {
		p.Points = t.result.Points
		t.o.Progress(p)
	}
}

// build makes the problems of all shapes, on all workers.
func (t *tuning) build(ctx context.Context) error {
	ctx, cancel := within(ctx, t.o.Building)
	defer cancel()
	// Those that there is no time for stay as if they did not exist.
	t.g.eachShape(func(at coordinates) { t.shapes = append(t.shapes, &shape{at: at, err: context.DeadlineExceeded}) })
	var counting sync.Mutex
	built := 0
	each(ctx, t.o.Workers, len(t.shapes), func(i int) {
		t.shapes[i] = t.g.buildShape(ctx, t.shapes[i].at)
		counting.Lock()
		defer counting.Unlock()
		if built++; built%64 == 0 {
			t.report(Progress{Stage: "building shapes", Done: built, Limit: len(t.shapes)})
		}
	})
	t.unite()
	return t.count()
}

// unite drops shapes whose problem is that of an earlier one: a placement may have
// several names.
func (t *tuning) unite() {
	seen := map[string]bool{}
	t.shapes = slices.DeleteFunc(t.shapes, func(s *shape) bool {
		if s.problem == nil {
			return false
		}
		key := identity(s.problem)
		twice := seen[key]
		seen[key] = true
		return twice
	})
	t.result.Shapes = len(t.shapes)
}

// identity returns a text that two problems share only if they are the same, whatever
// layers their stages hold.
func identity(p *model.Problem) string {
	sum, costs := sha256.New(), *p.Pipeline
	costs.Network = ""
	// A pipeline is plain data without maps or pointers, so its text is exact.
	fmt.Fprintf(sum, "%+v", costs)
	return string(sum.Sum(nil))
}

// count counts points and refusals. It returns the refusal of the first shape if
// no shape can be built.
func (t *tuning) count() error {
	var fault error
	for _, s := range t.shapes {
		switch {
		case s.err == nil:
			t.result.Points += t.g.policies(s)
		case tooLarge(s.err):
			t.result.TooLarge++
		case tight(s.err):
			t.result.NoOrder++
		case unbuilt(s.err):
			t.result.Unbuilt++
		default:
			t.result.Refused++
			fault = cmp.Or(fault, s.err)
		}
	}
	if t.result.Refused == len(t.shapes) {
		return fault
	}
	return nil
}

// rowOf decodes a point of a shape and has the plan judged.
func (t *tuning) rowOf(ctx context.Context, s *shape, point cssr.Point) (*Row, error) {
	if s.err != nil {
		return nil, s.err
	}
	outcome, err := decode(ctx, s, point.Policy)
	if err != nil {
		return nil, err
	}
	b := s.bound()
	r := &solve.Result{Bound: b.Value, BoundReason: b.Reason}
	if _, err := r.Offer(s.problem, outcome.Clone(), "cssr"); err != nil {
		return nil, err
	}
	r.Rule = point.String()
	return newRow(s.problem, point, r), nil
}

func newRow(p *model.Problem, point cssr.Point, r *solve.Result) *Row {
	return &Row{Point: point, Problem: p, Result: r, Value: inUnit(p, r.Value), Account: newAccount(p, r.Metrics)}
}

// explore looks for good points.
func (t *tuning) explore(ctx context.Context) error {
	e := &explorer{
		g: t.g, byKey: map[string]*shape{}, workers: t.o.Workers, budget: t.o.Evaluations,
		random: rand.New(rand.NewPCG(t.o.Seed, 0x707e)),
	}
	if e.budget == 0 {
		e.budget = max(leastTries, t.result.Points/100)
	}
	for _, s := range t.shapes {
		if s.err == nil {
			e.byKey[s.at.key()] = s
			e.shapes = append(e.shapes, s)
		}
	}
	slices.SortStableFunc(e.shapes, func(a, b *shape) int { return cmp.Compare(a.floor, b.floor) })
	e.progress = func(e *explorer) {
		best := 0.0
		if e.best != nil {
			best = e.best.value
		}
		t.report(Progress{Stage: "exploring", Done: e.tries, Limit: e.budget, Best: best})
	}
	t.explorer = e
	err := e.run(ctx)
	t.result.Evaluated = e.tries
	return err
}

// settle cuts the rows off, and says what was left out.
func (t *tuning) settle(ctx context.Context) {
	r := t.result
	if r.Fallback = len(r.Rows) == 0 && r.Reference != nil; r.Fallback {
		r.Rows = []Row{*r.Reference}
	}
	r.Rows = r.Rows[:min(len(r.Rows), t.o.Top)]
	r.TooLarge, r.NoOrder = 0, 0
	for _, s := range t.shapes {
		switch {
		case tooLarge(s.err):
			r.TooLarge++
		case tight(s.err):
			r.NoOrder++
		case s.err == nil && len(r.Rows) > 0 && s.floor >= r.Rows[0].Value:
			r.Pruned += t.g.policies(s) - t.explorer.decoded(s)
		}
	}
	switch {
	case ctx.Err() != nil:
		r.Reason = solve.Ended(ctx)
	case len(r.Rows) == 0:
		r.Reason = t.lacking()
	}
}

// lacking says what a space lacks of which no plan was found.
func (t *tuning) lacking() string {
	text := fmt.Sprintf("memory allows none of %s", model.Plural(t.result.TooLarge, "shape"))
	var least *MemoryError
	for _, s := range t.shapes {
		var none *MemoryError
		if errors.As(s.err, &none) && none.Excess > 0 && (least == nil || none.Excess < least.Excess) {
			least = none
		}
	}
	if least != nil {
		text += "; of the one that lacks least, " + least.Reason
	}
	if n := t.result.NoOrder; n > 0 {
		text += fmt.Sprintf("; of %s no order was found that fits, which is no proof that there is none", model.Plural(n, "other"))
	}
	return text
}

// Infeasible reports whether no shape of the space has a plan, by proof.
func (r *Result) Infeasible() bool {
	return len(r.Rows) == 0 && r.TooLarge > 0 && r.NoOrder == 0 && r.Unbuilt == 0
}
