package heuristics

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
)

// Options steer a search.
type Options struct {
	Seed    uint64
	Workers int        // goroutines, at least 1; does not change what is found
	Tries   int        // rules to decode at most for a better value; 0: as many as fit into a fixed amount of work
	Target  model.Time // a lower bound of the objective: the search ends when it is met

	// Incumbent is a legal plan to improve on, nil if none is known.
	Incumbent *model.Plan

	// Progress, if not nil, is called after each round with the best plan so far.
	Progress func(Progress)
}

// Progress tells how far a search is.
type Progress struct {
	Value  model.Time // of the best plan so far, in ticks
	Target model.Time // the lower bound that the search was given, in ticks
	Rule   string     // what found the best plan
	Tries  int        // rules decoded so far
	Limit  int        // rules that will be decoded at most
}

// Result is the best plan of a search.
type Result struct {
	Plan  *model.Plan
	Value model.Time // of the problem's objective, in ticks
	Rule  string     // what found it: the name of a schedule, or a description of the priorities
	Tries int        // rules decoded for a better value
}

// Limits of a search whose Tries are 0.
const (
	defaultTries = 2500
	defaultWork  = 1 << 26 // operations decoded
	batchSize    = 16      // rules decoded between two looks at the best; not the workers, so that results do not depend on them
	eliteSize    = 4
	maxWeighed   = 1 << 18 // operations up to which schedules that look at costs are tried
)

// Search looks for a plan with a small objective: it builds the named schedules
// that fit, then decodes a fixed list of priority rules, then random neighbours
// of the best rules; then it improves the best plans by local search (see tabu),
// and, where the plan may choose between fused and separated backward passes,
// that choice; last it looks for a plan as good that takes less memory. The
// search for a better objective ends when Target is met, after the tries, or with
// ctx. It promises a legal plan, and nothing about the distance to the best.
//
// For a given problem, seed and tries the result is always the same, unless ctx
// ends the search. Cost O(tries × operations).
//
// Errors: *cssr.MemoryError when the decoder knows no order in which a
// micro-batch alone fits (see there: a proof of infeasibility only for chains),
// and the context's error when it is canceled before the first plan. A deadline
// does not stop the first plan.
func Search(ctx context.Context, p *model.Problem, o Options) (*Result, error) {
	s := &search{p: p, o: o, outline: newOutline(p), random: rand.New(rand.NewPCG(o.Seed, 0xf1e8))}
	if s.o.Tries == 0 {
		s.o.Tries = min(defaultTries, max(1, defaultWork/max(1, p.NumOps())))
	}
	s.o.Workers = min(max(1, o.Workers), batchSize)
	if err := s.first(ctx); err != nil {
		return nil, err
	}
	if err := s.tryNamed(ctx); err != nil {
		return nil, err
	}
	if err := s.tryIncumbent(); err != nil {
		return nil, err
	}
	for !s.done(ctx) && s.tries < s.o.Tries {
		if err := s.tryBatch(ctx); err != nil {
			return nil, err
		}
		s.report()
	}
	if tabuFits(s.p) {
		s.polish(ctx)
	}
	if s.p.HasChoice && s.best.Value > s.o.Target {
		s.fuse(ctx)
	}
	tries := s.tries
	if err := s.saveMemory(ctx); err != nil {
		return nil, err
	}
	s.report()
	s.best.Tries = tries
	return s.best, nil
}

type search struct {
	p       *model.Problem
	o       Options
	outline *outline
	random  *rand.Rand
	pending []recipe // openers that have not been tried
	elite   []rated  // the best recipes, best first
	best    *Result
	tries   int

	decoders []*cssr.Decoder // by worker
}

// rated is a recipe with its value and its plan; nil if that is not kept.
type rated struct {
	recipe recipe
	value  model.Time
	plan   *model.Plan
}

func (s *search) done(ctx context.Context) bool {
	return ctx.Err() != nil || s.best.Value <= s.o.Target
}

func (s *search) report() {
	if s.o.Progress != nil {
		s.o.Progress(Progress{Value: s.best.Value, Target: s.o.Target, Rule: s.best.Rule, Tries: s.tries, Limit: s.o.Tries})
	}
}

// first decodes the first opener; every later step needs a plan to compare with.
// A deadline does not stop it, as a plan that comes late is better than none; a
// cancellation before the deadline does.
func (s *search) first(ctx context.Context) error {
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	ctx, cancel := untilCanceled(ctx)
	defer cancel()
	s.pending = openers(s.p)
	s.decoders = make([]*cssr.Decoder, s.o.Workers)
	q := s.pending[0]
	s.pending = s.pending[1:]
	out, err := s.decoder(0).Decode(ctx, q.rule(s.p, s.outline), 0)
	if err != nil {
		return err
	}
	s.tries++
	return s.keep(rated{q, out.Value(s.p.Pipeline.Objective), out.Clone()})
}

// untilCanceled returns a context that ends when the parent is canceled, but not
// when its deadline passes.
func untilCanceled(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		if !errors.Is(parent.Err(), context.DeadlineExceeded) {
			cancel()
		}
	})
	return ctx, func() { stop(); cancel() }
}

func (s *search) decoder(worker int) *cssr.Decoder {
	if s.decoders[worker] == nil {
		s.decoders[worker] = cssr.NewDecoder(s.p)
	}
	return s.decoders[worker]
}

// tryNamed builds the named schedules that fit the problem and its memory.
func (s *search) tryNamed(ctx context.Context) error {
	for _, schedule := range Schedules() {
		if ctx.Err() != nil {
			return nil
		}
		if schedule.weighs && s.p.NumOps() > maxWeighed {
			continue
		}
		plan, err := schedule.Build(s.p)
		var shape *ShapeError
		if errors.As(err, &shape) {
			continue
		}
		if err != nil {
			return err
		}
		m, err := s.measure(plan)
		if err != nil {
			return fmt.Errorf("schedule %s: %w", schedule.Name, err)
		}
		improves, err := s.improves(m)
		if err != nil {
			return err
		}
		if improves && m.Fits(s.p) {
			s.best = &Result{Plan: plan, Value: m.Value(s.p.Pipeline.Objective), Rule: schedule.Name}
		}
	}
	return nil
}

// tryIncumbent takes the plan given if it is better than the best.
func (s *search) tryIncumbent() error {
	if s.o.Incumbent == nil {
		return nil
	}
	m, err := s.measure(s.o.Incumbent)
	if err != nil {
		return fmt.Errorf("the incumbent: %w", err)
	}
	if value := m.Value(s.p.Pipeline.Objective); value < s.best.Value {
		s.best = &Result{Plan: s.o.Incumbent, Value: value, Rule: "the plan given"}
	}
	return nil
}

// improves reports whether metrics are those of a plan of less value than the
// best, or of the same value with less memory in all.
func (s *search) improves(m *model.Metrics) (bool, error) {
	if v := m.Value(s.p.Pipeline.Objective); v != s.best.Value {
		return v < s.best.Value, nil
	}
	best, err := s.measure(s.best.Plan)
	if err != nil {
		return false, err
	}
	sum := func(m *model.Metrics) (sum model.Bytes) {
		for _, d := range m.Devices {
			sum += d.Peak
		}
		return sum
	}
	return sum(m) < sum(best), nil
}

// measure returns the metrics of a plan.
func (s *search) measure(plan *model.Plan) (*model.Metrics, error) {
	tl, err := model.Evaluate(s.p, plan)
	if err != nil {
		return nil, err
	}
	return model.Measure(s.p, plan, tl), nil
}

// attempt is a decoded candidate of a round.
type attempt struct {
	recipe recipe
	value  model.Time
	joins  bool        // it is better than the elite before the round
	plan   *model.Plan // nil if it is neither the best nor small
	err    error
}

// tryBatch decodes the next candidates side by side and keeps the good ones, in the
// order of the candidates.
func (s *search) tryBatch(ctx context.Context) error {
	batch := make([]attempt, min(batchSize, s.o.Tries-s.tries))
	for i := range batch {
		batch[i].recipe = s.candidate()
	}
	s.parallel(len(batch), func(worker, i int) {
		if ctx.Err() == nil {
			s.decode(ctx, s.decoder(worker), &batch[i])
		}
	})
	for i := range batch {
		a := &batch[i]
		if a.err != nil {
			return a.err
		}
		s.tries++
		if a.joins {
			if err := s.keep(rated{a.recipe, a.value, a.plan}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *search) candidate() recipe {
	if len(s.pending) > 0 {
		q := s.pending[0]
		s.pending = s.pending[1:]
		return q
	}
	return s.elite[s.random.IntN(len(s.elite))].recipe.mutate(s.p, s.random)
}

// decode tries a candidate against the worst elite value known before the round.
// Candidates whose fused stages need memory that is not there, and those that
// time does not allow, come to nothing.
func (s *search) decode(ctx context.Context, d *cssr.Decoder, a *attempt) {
	out, err := d.Decode(ctx, a.recipe.rule(s.p, s.outline), s.cutoff())
	var memory *cssr.MemoryError
	if err != nil && !errors.As(err, &memory) && ctx.Err() == nil {
		a.err = err
	}
	if err != nil || out == nil {
		return
	}
	a.value = out.Value(s.p.Pipeline.Objective)
	a.joins = a.value < s.cutoff()
	if a.value < s.best.Value || a.joins && s.p.NumOps() <= maxTabu {
		a.plan = out.Clone()
	}
}

// cutoff is the value that a candidate must beat to join the elite.
func (s *search) cutoff() model.Time {
	if len(s.elite) < eliteSize {
		return 1 << 62
	}
	return s.elite[len(s.elite)-1].value
}

// keep files a recipe among the elite, and its plan if it is the best.
func (s *search) keep(r rated) error {
	if r.value >= s.cutoff() {
		return nil
	}
	i, _ := slices.BinarySearchFunc(s.elite, r, func(a, b rated) int {
		if a.value <= b.value {
			return -1
		}
		return 1
	})
	s.elite = slices.Insert(s.elite, i, r)
	s.elite = s.elite[:min(len(s.elite), eliteSize)]
	if s.best != nil && r.value >= s.best.Value {
		return nil
	}
	// Without the waits of the rule that made it, the plan may be faster yet.
	m, err := s.measure(r.plan)
	if err != nil {
		return fmt.Errorf("the decoder returned a plan that cannot run: %w", err)
	}
	s.best = &Result{Plan: r.plan, Value: m.Value(s.p.Pipeline.Objective), Rule: r.recipe.String()}
	return nil
}

// polish improves the best plan and those of the elite by local search, side by
// side, and keeps the best.
func (s *search) polish(ctx context.Context) {
	starts := []Result{*s.best}
	for _, r := range s.elite {
		starts = append(starts, Result{Plan: r.plan, Value: r.value, Rule: r.recipe.String()})
	}
	s.parallel(len(starts), func(_, i int) {
		r := &starts[i]
		r.Plan, r.Value = improve(ctx, s.p, r.Plan, r.Value, s.o.Target, s.o.Seed+uint64(i))
	})
	for _, r := range starts {
		if r.Value < s.best.Value {
			s.best = &Result{Plan: r.Plan, Value: r.Value, Rule: r.Rule + ", then swaps"}
		}
	}
	s.report()
}

// fuse improves the choices of the best plan, and of the best that rules gave, which
// may be far from it where that is a named schedule.
func (s *search) fuse(ctx context.Context) {
	starts := []Result{*s.best}
	if r := s.elite[0]; r.plan != nil && r.plan != s.best.Plan {
		starts = append(starts, Result{Plan: r.plan, Value: r.value, Rule: r.recipe.String()})
	}
	values := make([]model.Time, len(starts))
	s.parallel(len(starts), func(_, i int) {
		values[i] = fuse(ctx, s.p, starts[i].Plan, starts[i].Value, s.o.Tries)
	})
	for i, r := range starts {
		if values[i] < s.best.Value {
			s.best = &Result{Plan: r.Plan, Value: values[i], Rule: r.Rule + ", then fused here and there"}
		}
	}
}

// parallel calls do for each i below n, on several goroutines; each knows its
// number.
func (s *search) parallel(n int, do func(worker, i int)) {
	var group sync.WaitGroup
	var fault atomic.Value
	for worker := range s.o.Workers {
		group.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					fault.Store(fmt.Sprintf("%v\n%s", r, debug.Stack()))
				}
			}()
			for i := worker; i < n; i += s.o.Workers {
				do(worker, i)
			}
		})
	}
	group.Wait()
	if f := fault.Load(); f != nil {
		panic(f) // in the caller's goroutine, where it can be recovered
	}
}
