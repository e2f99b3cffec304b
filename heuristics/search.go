package heuristics

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
)

// Options steer a search.
type Options struct {
	Seed    uint64
	Workers int        // goroutines, at least 1; does not change what is found
	Tries   int        // rules to decode at most; 0: as many as fit into a fixed amount of work
	Target  model.Time // a lower bound of the objective: the search ends when it is met

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
	Tries int
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
// of the best rules; where the plan may choose between fused and separated
// backward passes, it improves that choice last. It ends when Target is met,
// after the tries, or with ctx. It promises a legal plan, and nothing about the
// distance to the best.
//
// For a given problem, seed and tries the result is always the same, unless ctx
// ends the search. Cost O(tries × operations).
//
// Errors: *cssr.MemoryError when not even one micro-batch at a time fits, and
// the context's error when it ends before the first plan.
func Search(ctx context.Context, p *model.Problem, o Options) (*Result, error) {
	s := &search{p: p, o: o, outline: newOutline(p), random: rand.New(rand.NewPCG(o.Seed, 0xf1e8))}
	if s.o.Tries == 0 {
		s.o.Tries = min(defaultTries, max(1, defaultWork/max(1, p.NumOps())))
	}
	s.o.Workers = min(max(1, o.Workers), batchSize)
	if err := s.first(ctx); err != nil {
		return nil, err
	}
	s.tryNamed(ctx)
	for !s.done(ctx) {
		s.tryBatch(ctx)
		s.report()
	}
	if s.p.HasChoice && s.best.Value > s.o.Target {
		s.best.Value = fuse(ctx, s.p, s.best.Plan, s.best.Value, s.o.Tries)
	}
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

// rated is a recipe with its value.
type rated struct {
	recipe recipe
	value  model.Time
}

func (s *search) done(ctx context.Context) bool {
	return ctx.Err() != nil || s.tries >= s.o.Tries || s.best.Value <= s.o.Target
}

func (s *search) report() {
	if s.o.Progress != nil {
		s.o.Progress(Progress{Value: s.best.Value, Target: s.o.Target, Rule: s.best.Rule, Tries: s.tries, Limit: s.o.Tries})
	}
}

// first decodes the first opener; every later step needs a plan to compare with.
func (s *search) first(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.pending = openers(s.p)
	for range s.o.Workers {
		s.decoders = append(s.decoders, nil)
	}
	q := s.pending[0]
	s.pending = s.pending[1:]
	out, err := s.decoder(0).Decode(q.rule(s.p, s.outline), 0)
	if err != nil {
		return err
	}
	s.tries++
	s.keep(rated{q, out.Value(s.p.Pipeline.Objective)}, out.Clone())
	return nil
}

func (s *search) decoder(worker int) *cssr.Decoder {
	if s.decoders[worker] == nil {
		s.decoders[worker] = cssr.NewDecoder(s.p)
	}
	return s.decoders[worker]
}

// tryNamed builds the named schedules that fit the problem and its memory.
func (s *search) tryNamed(ctx context.Context) {
	for _, schedule := range Schedules() {
		if s.done(ctx) {
			return
		}
		if schedule.weighs && s.p.NumOps() > maxWeighed {
			continue
		}
		plan, err := schedule.Build(s.p)
		if err != nil {
			continue // its shape is another
		}
		tl, err := model.Evaluate(s.p, plan)
		if err != nil {
			continue
		}
		m := model.Measure(s.p, plan, tl)
		if v := m.Value(s.p.Pipeline.Objective); v < s.best.Value && fits(s.p, m) {
			s.best = &Result{Plan: plan, Value: v, Rule: schedule.Name, Tries: s.tries}
		}
	}
}

// attempt is a decoded candidate of a round.
type attempt struct {
	recipe recipe
	value  model.Time
	better bool        // than the elite before the round
	plan   *model.Plan // nil if it is no better than the best before the round
}

// tryBatch decodes the next candidates side by side and keeps the good ones, in the
// order of the candidates.
func (s *search) tryBatch(ctx context.Context) {
	batch := make([]attempt, min(batchSize, s.o.Tries-s.tries))
	for i := range batch {
		batch[i].recipe = s.candidate()
	}
	var group sync.WaitGroup
	for worker := range s.o.Workers {
		group.Go(func() {
			for i := worker; i < len(batch); i += s.o.Workers {
				if ctx.Err() == nil {
					s.decode(s.decoder(worker), &batch[i])
				}
			}
		})
	}
	group.Wait()
	for i := range batch {
		s.tries++
		if a := &batch[i]; a.better {
			s.keep(rated{a.recipe, a.value}, a.plan)
		}
	}
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
func (s *search) decode(d *cssr.Decoder, a *attempt) {
	out, err := d.Decode(a.recipe.rule(s.p, s.outline), s.cutoff())
	if err != nil || out == nil {
		return // fused stages may need memory that separated ones do not
	}
	a.value = out.Value(s.p.Pipeline.Objective)
	a.better = a.value < s.cutoff()
	if a.value < s.best.Value {
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
func (s *search) keep(r rated, plan *model.Plan) {
	if r.value >= s.cutoff() {
		return
	}
	i, _ := slices.BinarySearchFunc(s.elite, r, func(a, b rated) int {
		if a.value <= b.value {
			return -1
		}
		return 1
	})
	s.elite = slices.Insert(s.elite, i, r)
	s.elite = s.elite[:min(len(s.elite), eliteSize)]
	if s.best == nil || r.value < s.best.Value {
		s.best = &Result{Plan: plan, Value: s.settle(plan, r.value), Rule: r.recipe.String(), Tries: s.tries}
	}
}

// settle returns the value of a plan without the waits of the rule that made it.
func (s *search) settle(plan *model.Plan, value model.Time) model.Time {
	tl, err := model.Evaluate(s.p, plan)
	if err != nil {
		panic("heuristics: the decoder returned a plan that cannot run: " + err.Error())
	}
	return min(value, model.Measure(s.p, plan, tl).Value(s.p.Pipeline.Objective))
}
