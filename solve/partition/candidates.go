package partition

import (
	"context"
	"slices"
)

// Candidates returns choices for a search that looks at more than the load of devices: the k
// best with different cuts or recomputations, in order, and behind them, in order too,
// what else is a step away from the best: one layer moved over one boundary, or one
// stage that recomputes in the next way, as far as limits allow. k is at
// least 1.
//
// The k best are exact where the dynamic program is, see [Solve]; where it would
// take too many steps they are the best one found and the steps away from it. There may be
// fewer than k where higher loads would take too many steps.
//
// The cost is k times that of Solve. Errors are those of Solve.
func Candidates(ctx context.Context, p *Problem, k int, o Options) ([]Result, error) {
	best, err := Solve(ctx, p, o)
	if err != nil {
		return nil, err
	}
	list := []Choice{best.Choice}
	if best.Method == DynamicProgram && k > 1 {
		if list, err = distinct(ctx, p, k, o.steps()); isLimit(err) || err == nil && len(list) == 0 {
			list = []Choice{best.Choice}
		} else if err != nil {
			return nil, err
		}
	}
	var near []Choice
	for _, c := range p.neighbours(&list[0]) {
		if !slices.ContainsFunc(list, func(other Choice) bool { return sameStages(&other, &c) }) {
			near = append(near, c)
		}
	}
	p.sort(near)
	var results []Result
	for _, c := range append(list, near...) {
		results = append(results, *newResult(p, c, best.Bound, best.Method))
	}
	return results, nil
}

// distinct returns the k best choices that differ in cut or recomputation. Where the
// assignment is free, several of the best may differ in devices only, of which the
// first counts; then it asks for more.
func distinct(ctx context.Context, p *Problem, k, steps int) ([]Choice, error) {
	f := newFrontier(p)
	for ask := k; ; ask *= 2 {
		list, err := f.best(ctx, ask, steps)
		if err != nil {
			return nil, err
		}
		all := len(list) < ask
		var kept []Choice
		for _, c := range list {
			if !slices.ContainsFunc(kept, func(other Choice) bool { return sameStages(&other, &c) }) {
				kept = append(kept, c)
			}
		}
		if all || len(kept) >= k {
			return kept[:min(k, len(kept))], nil
		}
	}
}

func sameStages(a, b *Choice) bool {
	return slices.Equal(a.Cut, b.Cut) && slices.Equal(a.Recompute, b.Recompute)
}

// neighbours returns the choices one step away that keep the limits.
func (p *Problem) neighbours(c *Choice) []Choice {
	var list []Choice
	offer := func(change func(*Choice)) {
		next := c.clone()
		change(&next)
		if Fits(p, &next) {
			list = append(list, next)
		}
	}
	for s := 1; s < len(c.Cut); s++ {
		for _, move := range []int{-1, 1} {
			if c.Cut[s-1]+move > 0 && c.Cut[s]-move > 0 {
				offer(func(n *Choice) { n.Cut[s-1] += move; n.Cut[s] -= move })
			}
		}
	}
	modes := p.modes()
	for s, r := range c.Recompute {
		at := slices.Index(modes, r)
		for _, next := range []int{at - 1, at + 1} {
			if next >= 0 && next < len(modes) {
				offer(func(n *Choice) { n.Recompute[s] = modes[next] })
			}
		}
	}
	return list
}

// descend moves c to its best neighbour as long as that is better.
func (p *Problem) descend(c *Choice) {
	for {
		list := append(p.neighbours(c), *c)
		p.sort(list)
		if sameStages(&list[0], c) {
			return
		}
		*c = list[0]
	}
}
