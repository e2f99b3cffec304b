package tune

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/cssr"
)

// scored is a point that has been decoded.
type scored struct {
	at    coordinates // shape options, then policy options
	shape *shape
	value float64 // of the objective, in the configuration's unit
}

// better orders points by value, ties by their options.
func better(a, b *scored) int {
	return cmp.Or(cmp.Compare(a.value, b.value), slices.Compare(a.at, b.at))
}

// Limits of an exploration.
const (
	batch      = 16  // points decoded between two decisions; not the workers, so that results do not depend on them
	elites     = 6   // shapes around whose best points the policies are searched
	scanShare  = 0.4 // of the evaluations, spent on a first look at shapes
	leastTries = 400 // evaluations where 1 % of the space are fewer
)

// explorer looks for good points: a first look at the shapes by ascending floor,
// sweeps along the axes from the best point of each of the best shapes, then random
// steps from the best points. A shape whose floor is not below the best value is
// never decoded.
type explorer struct {
	g        *grid
	shapes   []*shape // that can be built, by ascending floor
	byKey    map[string]*shape
	workers  int
	budget   int
	random   *rand.Rand
	progress func(*explorer)

	seen   map[string]*scored // nil for points without a plan
	points []*scored          // in the order in which they were decoded
	best   *scored
	tries  int
}

// run explores until the evaluations are spent, nothing is left, or ctx ends.
func (e *explorer) run(ctx context.Context) error {
	e.seen = map[string]*scored{}
	for _, stage := range []func(context.Context) error{e.scan, e.opening, e.sweep, e.wander} {
		if err := stage(ctx); err != nil {
			return err
		}
	}
	return nil
}

// done reports whether there is nothing to gain, or nothing left to spend.
func (e *explorer) done(ctx context.Context) bool { return e.tries >= e.budget || ctx.Err() != nil }

// open reports whether a shape may still hold a better point.
func (e *explorer) open(s *shape) bool {
	return s.err == nil && (e.best == nil || s.floor < e.best.value)
}

// decoded returns the number of points of a shape that have been decoded.
func (e *explorer) decoded(s *shape) int {
	n := 0
	for key := range e.seen {
		if strings.HasPrefix(key, s.at.key()) {
			n++
		}
	}
	return n
}

// scan decodes the first policy of shapes, those with the lowest floors first.
func (e *explorer) scan(ctx context.Context) error {
	most := max(batch, int(scanShare*float64(e.budget)))
	for i := 0; i < len(e.shapes) && e.tries < most && !e.done(ctx); {
		var list []coordinates
		for ; i < len(e.shapes) && len(list) < batch; i++ {
			if e.open(e.shapes[i]) {
				list = append(list, e.first(e.shapes[i]))
			}
		}
		if _, err := e.decode(ctx, list); err != nil {
			return err
		}
	}
	return nil
}

// first returns the point of a shape with the first option of each axis.
func (e *explorer) first(s *shape) coordinates {
	return append(slices.Clone(s.at), make(coordinates, len(e.g.orders))...)
}

// opening decodes the other openers for the best shapes: options that do well
// together, and badly one by one.
func (e *explorer) opening(ctx context.Context) error {
	var list []coordinates
	for _, p := range e.bestByShape(elites) {
		for _, o := range e.g.openers {
			list = append(list, append(slices.Clone(p.shape.at), o...))
		}
	}
	_, err := e.decode(ctx, list)
	return err
}

// sweep climbs from the best point, carries the policy that it finds over to the
// other shapes, and goes on with the best point of another shape or another
// priority of types that has not been climbed from, until none of the best is left.
func (e *explorer) sweep(ctx context.Context) error {
	climbed := map[*scored]bool{}
	for !e.done(ctx) {
		from := e.bestBy(elites, func(p *scored) string { return p.at[:len(e.g.shapes)+1].key() })
		i := slices.IndexFunc(from, func(p *scored) bool { return !climbed[p] && e.open(p.shape) })
		if i < 0 {
			return nil
		}
		p, err := e.climb(ctx, from[i])
		if err != nil {
			return err
		}
		climbed[from[i]] = true
		if p == from[i] {
			continue
		}
		if err := e.carry(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// carry decodes the policy of a point for the other shapes, the best ones first.
func (e *explorer) carry(ctx context.Context, p *scored) error {
	var list []coordinates
	for _, q := range e.bestByShape(batch) {
		list = append(list, append(slices.Clone(q.shape.at), p.at[len(e.g.shapes):]...))
	}
	_, err := e.decode(ctx, list)
	return err
}

// climb goes once along each axis of the policy from p.
func (e *explorer) climb(ctx context.Context, p *scored) (*scored, error) {
	for i := range e.g.orders {
		if e.done(ctx) {
			break
		}
		found, err := e.decode(ctx, e.line(p, len(e.g.shapes)+i))
		if err != nil {
			return p, err
		}
		for _, q := range found {
			if better(q, p) < 0 {
				p = q
			}
		}
	}
	return p, nil
}

// line returns the points that differ from p in one axis.
func (e *explorer) line(p *scored, axis int) []coordinates {
	options := e.axis(axis).options
	list := make([]coordinates, 0, options)
	for o := range options {
		if o != int(p.at[axis]) {
			q := slices.Clone(p.at)
			q[axis] = uint8(o)
			list = append(list, q)
		}
	}
	return list
}

func (e *explorer) axis(i int) *axis {
	if i < len(e.g.shapes) {
		return &e.g.shapes[i]
	}
	return &e.g.orders[i-len(e.g.shapes)]
}

// wander takes random steps from the best points; from each better one it climbs.
func (e *explorer) wander(ctx context.Context) error {
	for idle := 0; idle < 20 && !e.done(ctx) && e.best != nil; idle++ {
		from := e.bestByShape(elites)
		var list []coordinates
		for range batch {
			list = append(list, e.mutate(from[e.random.IntN(len(from))].at))
		}
		before, tries := e.best, e.tries
		if _, err := e.decode(ctx, list); err != nil {
			return err
		}
		if e.best != before {
			if _, err := e.climb(ctx, e.best); err != nil {
				return err
			}
		}
		if e.tries > tries {
			idle = -1
		}
	}
	return nil
}

// mutate changes one to three random axes.
func (e *explorer) mutate(at coordinates) coordinates {
	at = slices.Clone(at)
	for range 1 + e.random.IntN(3) {
		i := e.random.IntN(len(at))
		at[i] = uint8(e.random.IntN(e.axis(i).options))
	}
	return at
}

// bestByShape returns the best point of each of the n best shapes, in order.
func (e *explorer) bestByShape(n int) []*scored {
	return e.bestBy(n, func(p *scored) string { return p.shape.at.key() })
}

// bestBy returns the best point of each of the n best classes, in order.
func (e *explorer) bestBy(n int, class func(*scored) string) []*scored {
	sorted := slices.SortedFunc(slices.Values(e.points), better)
	var list []*scored
	used := map[string]bool{}
	for _, p := range sorted {
		if len(list) == n {
			break
		}
		if c := class(p); !used[c] {
			used[c] = true
			list = append(list, p)
		}
	}
	return list
}

// decode evaluates those of the points that are new and may be better, as far as
// the evaluations last, and returns the plans found among all that were asked for.
func (e *explorer) decode(ctx context.Context, list []coordinates) ([]*scored, error) {
	var fresh, asked []*scored
	for _, at := range list {
		s := e.byKey[at[:len(e.g.shapes)].key()]
		if s == nil || s.err != nil {
			continue
		}
		at = e.g.canonical(s, at)
		if old, known := e.seen[at.key()]; known {
			if old != nil {
				asked = append(asked, old)
			}
			continue
		}
		if !e.open(s) || e.tries+len(fresh) >= e.budget {
			continue
		}
		p := &scored{at: at, shape: s}
		e.seen[at.key()] = p
		fresh = append(fresh, p)
	}
	if err := e.evaluate(ctx, fresh); err != nil {
		return nil, err
	}
	for _, p := range fresh {
		if p.value < 0 {
			e.seen[p.at.key()] = nil
			continue
		}
		asked = append(asked, p)
		e.points = append(e.points, p)
		if e.best == nil || better(p, e.best) < 0 {
			e.best = p
		}
	}
	e.tries += len(fresh)
	if e.progress != nil {
		e.progress(e)
	}
	return asked, nil
}

// evaluate decodes points on all workers; the value of one without a plan is -1.
func (e *explorer) evaluate(ctx context.Context, list []*scored) error {
	errs := make([]error, len(list))
	for _, p := range list {
		p.value = -1
	}
	each(ctx, e.workers, len(list), func(i int) { errs[i] = e.score(ctx, list[i]) })
	for i, err := range errs {
		switch {
		case err == nil:
		case tight(err):
			list[i].shape.err = err // whatever the policy
		case ctx.Err() != nil:
		default:
			return err
		}
	}
	return nil
}

// score decodes a point.
func (e *explorer) score(ctx context.Context, p *scored) error {
	outcome, err := decode(ctx, p.shape, e.g.policyAt(p))
	if err != nil {
		return err
	}
	p.value = inUnit(p.shape.problem, outcome.Value(p.shape.problem.Pipeline.Objective))
	return nil
}

// policyAt returns the policy of a point.
func (g *grid) policyAt(p *scored) cssr.Policy { return p.shape.policyOf(g.draftOf(p.at)) }

// decode returns the plan of a policy for a shape.
func decode(ctx context.Context, s *shape, policy cssr.Policy) (*cssr.Outcome, error) {
	rule, err := policy.Rule(s.problem)
	if err != nil {
		return nil, err
	}
	return cssr.NewDecoder(s.problem).Decode(ctx, rule, 0)
}
