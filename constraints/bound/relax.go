package bound

import "github.com/flexpipe/flexpipe/model"

// lightest returns, by route, the index of a micro-batch with the smallest
// factor within its route. All durations of a micro-batch scale alike, so the
// shortest operation of a row is there.
func lightest(p *model.Problem) []int {
	factors := p.Pipeline.Factors
	best := make([]int, p.Pipeline.NumRoutes())
	if factors == nil {
		return best
	}
	least, seen := make([]int64, len(best)), make([]int, len(best))
	for m, f := range factors {
		route := 0
		if p.Pipeline.Routes != nil {
			route = p.Pipeline.Routes[m]
		}
		if seen[route] == 0 || f < least[route] {
			best[route], least[route] = seen[route], f
		}
		seen[route]++
	}
	return best
}

// relaxed returns the duration of an operation, shortened so that it fits both
// cases where the plan may choose between split and fused.
func relaxed(p *model.Problem, r, k int) model.Time {
	own := p.DurationIn(r, k)
	if p.Rows[r].Choice != model.WhenSplit {
		return own
	}
	if twin := p.Rows[r].Twin; twin >= 0 {
		return min(own, p.DurationIn(int(twin), k))
	}
	input := -1
	for _, pred := range p.Rows[r].Preds {
		if p.Rows[pred.Row].Twin >= 0 && p.Rows[pred.Row].Stage == p.Rows[r].Stage {
			input = int(pred.Row)
		}
	}
	if input < 0 {
		return 0
	}
	apart := p.DurationIn(input, k)
	full := p.DurationIn(int(p.Rows[input].Twin), k)
	return min(apart+own, full) - min(apart, full)
}

// total returns the work of a row, relaxed where the plan may choose. Cost O(1)
// for identical micro-batches, else O(micro-batches).
func total(p *model.Problem, r int) model.Time {
	n := p.Count(r)
	if p.Identical && n > 0 {
		return model.Time(n) * relaxed(p, r, 0)
	}
	sum := model.Time(0)
	for k := range n {
		sum += relaxed(p, r, k)
	}
	return sum
}
