package heuristics

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
)

// recipe is a rule in terms that carry over from problem to problem: a few
// numbers, in units of the period (the work of the busiest device for a
// micro-batch). It is a value; mutate returns a changed copy.
type recipe struct {
	due    due
	pace   float64 // how much later each further micro-batch is due
	input  float64 // how much later gradients of inputs are due
	output float64 // how much later forwards are due
	weight float64 // how much later gradients of weights are due
	group  int     // micro-batches that move in lockstep from stage to stage; 0: none

	flight float64 // in-flight cap of a stage, in trips: forward to gradient; 0: none
	spare  int     // micro-batches above that cap

	patience       int // of forwards and gradients of inputs, in eighths
	weightPatience int // of gradients of weights
	frugal         bool
	allowance      float64

	fuse  []bool    // by stage; nil: none
	order ordering  // of micro-batches that differ
	swaps []int     // pairs of places swapped after ordering
	noise []float64 // by row; nil: none
}

// due says when the operations of micro-batch 0 are due.
type due uint8

const (
	dueByHead  due = iota // as early as they can start
	dueByTail             // by what still has to follow
	dueByStage            // early stages first
	dueByDepth            // late stages first
	numDues
)

var dueNames = [numDues]string{"head", "tail", "stage", "depth"}

// ordering is an order of micro-batches that differ.
type ordering uint8

const (
	asGiven ordering = iota
	shortestFirst
	longestFirst
	numOrderings
)

// whenIdle is the delay of operations that are due after all others.
const whenIdle = 1000.0

// resolution is the number of rule units in a period. Ranks are in periods and
// not in ticks, so that they neither overflow nor depend on the unit of time.
const resolution = 1 << 16

// units translates periods to rule units, within what a rule may hold.
func units(periods float64) int64 {
	const most = 1 << 40
	return int64(min(max(periods*resolution, -most), most))
}

// rule translates the recipe for a problem.
func (q *recipe) rule(p *model.Problem, o *outline) *cssr.Rule {
	rule := cssr.NewRule(p)
	period := float64(o.period)
	for r := range p.Rows {
		row := &p.Rows[r]
		rule.Offset[r] = units(q.dueTime(row, o, r) + q.delay(row.Kind) + noiseAt(q.noise, r))
		rule.Slope[r] = units(q.pace)
		rule.Patience[r] = uint8(q.patience)
		if row.Kind == model.BackwardWeight {
			rule.Patience[r] = uint8(q.weightPatience)
		}
		if row.Kind == model.Forward && q.flight > 0 && o.trip[r] > 0 {
			trips := math.Ceil(float64(o.trip[r]) / period * q.flight)
			rule.Cap[r] = int32(min(max(1, trips+float64(q.spare)), math.MaxInt32/2))
		}
	}
	if q.group > 1 {
		rule.Group = q.group
		for r := range rule.Slope {
			// Within a group the stage decides before the micro-batch does.
			rule.GroupStep = rule.Slope[r] * int64(q.group)
			rule.Slope[r] = 1
		}
	}
	rule.Frugal, rule.Allowance = q.frugal, model.Time(q.allowance*period)
	if p.HasChoice {
		rule.Fuse = q.fuse
	}
	if ordersMicroBatches(p) {
		rule.Order = q.microBatches(p)
	}
	return rule
}

// dueTime returns when an operation of micro-batch 0 is due, in periods. Operations
// of the pipeline's own need not follow the direction of forwards or gradients: among
// stages they are due by head or tail.
func (q *recipe) dueTime(row *model.Row, o *outline, r int) float64 {
	step := float64(row.Stage) / 100
	if row.Kind.CarriesGradient() {
		step = -step
	}
	own := row.Kind > model.SendBackward
	switch {
	case q.due == dueByHead || own && q.due == dueByStage:
		return float64(o.head[r]) / float64(o.period)
	case q.due == dueByTail || own:
		return -float64(o.tail[r]) / float64(o.period)
	case q.due == dueByStage:
		return step
	default:
		return -step
	}
}

// delay returns how much later operations of a kind are due, in periods.
func (q *recipe) delay(k model.Kind) float64 {
	switch {
	case k == model.Forward:
		return q.output
	case k == model.BackwardWeight:
		return q.weight
	case k.CarriesGradient():
		return q.input
	default:
		return 0
	}
}

// microBatches returns the order of micro-batches that differ.
func (q *recipe) microBatches(p *model.Problem) []int32 {
	list := make([]int32, p.MicroBatches())
	for m := range list {
		list[m] = int32(m)
	}
	factors := p.Pipeline.Factors
	switch q.order {
	case shortestFirst:
		slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(factors[a], factors[b]) })
	case longestFirst:
		slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(factors[b], factors[a]) })
	}
	for i := 0; i+1 < len(q.swaps); i += 2 {
		a, b := q.swaps[i]%len(list), q.swaps[i+1]%len(list)
		list[a], list[b] = list[b], list[a]
	}
	return list
}

// String describes the recipe for people.
func (q *recipe) String() string {
	parts := []string{"due by " + dueNames[q.due]}
	add := func(set bool, format string, args ...any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(q.pace != 1, "pace %.2f", q.pace)
	add(q.weight >= whenIdle, "weights when idle")
	add(q.weight > 0 && q.weight < whenIdle, "weights %.2f later", q.weight)
	add(q.output >= whenIdle, "gradients first")
	add(q.group > 1, "groups of %d", q.group)
	add(q.flight > 0, "in flight %.2f trips%+d", q.flight, q.spare)
	add(q.patience > 0, "patience %d/8", q.patience)
	add(q.weightPatience > 0, "weight patience %d/8", q.weightPatience)
	add(q.frugal, "frugal")
	add(slices.Contains(q.fuse, true), "fused on some stages")
	add(q.noise != nil, "perturbed")
	return strings.Join(parts, ", ")
}

// openers lists recipes for a first look at a problem, the most promising first.
func openers(p *model.Problem) []recipe {
	basic := recipe{pace: 1, weight: whenIdle}
	variants := []func(*recipe){
		func(*recipe) {},
		func(q *recipe) { q.weight = 0 },
		func(q *recipe) { q.flight, q.weightPatience = 1, 8 },
		func(q *recipe) { q.flight, q.spare, q.weightPatience = 1, 1, 8 },
		func(q *recipe) { q.output, q.flight = whenIdle, 1 },
		func(q *recipe) { q.flight, q.weightPatience = 1.5, 8 },
		func(q *recipe) { q.flight, q.weightPatience, q.frugal = 1.5, 8, true },
		func(q *recipe) { q.weightPatience, q.frugal, q.allowance = 8, true, 0.3 },
		func(q *recipe) { q.flight, q.weightPatience, q.frugal, q.allowance = 2.6, 8, true, 0.3 },
		func(q *recipe) { q.flight, q.spare, q.weightPatience, q.patience = 2.7, -1, 4, 4 },
		func(q *recipe) { q.flight, q.spare, q.weightPatience, q.frugal = 2, 1, 8, true },
		func(q *recipe) { q.weight = 1 },
		func(q *recipe) { q.weight, q.flight, q.weightPatience = 1, 1, 8 },
		func(q *recipe) { q.weight, q.flight, q.spare = 3, 1, 1 },
		func(q *recipe) { q.due, q.weight = dueByTail, 1 },
		func(q *recipe) { q.due, q.pace, q.weight = dueByTail, 0.5, 1.5 },
		func(q *recipe) { q.due = dueByTail },
		func(q *recipe) { q.due, q.flight, q.weightPatience = dueByTail, 1, 8 },
		func(q *recipe) { q.due, q.flight, q.weightPatience = dueByDepth, 1.5, 8 },
		func(q *recipe) { q.due, q.group = dueByStage, p.Pipeline.RealDevices() },
		func(q *recipe) { q.due, q.group, q.flight = dueByHead, p.Pipeline.RealDevices(), 1 },
		func(q *recipe) { q.pace = 0.5 },
		func(q *recipe) { q.pace, q.weight = 1.5, 0 },
		func(q *recipe) { q.patience, q.weightPatience = 8, 8 },
	}
	var list []recipe
	for _, fuse := range fusions(p) {
		for _, order := range orderings(p) {
			for _, vary := range variants {
				q := basic
				q.fuse, q.order = fuse, order
				vary(&q)
				list = append(list, q)
			}
		}
	}
	return list
}

// fusions lists the choices of fused stages to open with.
func fusions(p *model.Problem) [][]bool {
	if !p.HasChoice {
		return [][]bool{nil}
	}
	stages := len(p.Pipeline.Stages)
	first := make([]bool, stages)
	first[0] = true
	return [][]bool{nil, slices.Repeat([]bool{true}, stages), first}
}

// ordersMicroBatches reports whether rules choose the order of micro-batches.
func ordersMicroBatches(p *model.Problem) bool {
	return !p.Identical && p.Pipeline.NumRoutes() == 1
}

func orderings(p *model.Problem) []ordering {
	if !ordersMicroBatches(p) {
		return []ordering{asGiven}
	}
	return []ordering{asGiven, shortestFirst, longestFirst}
}

// mutate returns a random neighbour of the recipe.
func (q recipe) mutate(p *model.Problem, r *rand.Rand) recipe {
	noise := make([]float64, len(p.Rows))
	scale := []float64{0, 0.1, 0.3, 1}[r.IntN(4)]
	for i := range noise {
		noise[i] = noiseAt(q.noise, i) + r.NormFloat64()*scale
	}
	q.noise = noise
	third := func(change func()) {
		if r.IntN(3) == 0 {
			change()
		}
	}
	third(func() { q.weightPatience = r.IntN(9) })
	third(func() { q.patience = r.IntN(9) })
	third(func() { q.flight = []float64{0, 1, 1 + 2*r.Float64()}[r.IntN(3)] })
	third(func() { q.spare = r.IntN(5) - 1 })
	third(func() { q.pace *= 0.7 + 0.6*r.Float64() })
	third(func() { q.weight = r.ExpFloat64() * 3 })
	third(func() {
		q.frugal = r.IntN(2) == 0
		q.allowance = []float64{0, r.Float64(), 3 * r.Float64()}[r.IntN(3)]
	})
	if p.HasChoice {
		third(func() { q.fuse = flip(q.fuse, len(p.Pipeline.Stages), r) })
	}
	if ordersMicroBatches(p) {
		third(func() { q.swaps = append(slices.Clone(q.swaps), r.IntN(1<<20), r.IntN(1<<20)) })
	}
	return q
}

func flip(fuse []bool, stages int, r *rand.Rand) []bool {
	changed := make([]bool, stages)
	copy(changed, fuse)
	s := r.IntN(stages)
	changed[s] = !changed[s]
	return changed
}

func noiseAt(list []float64, i int) float64 {
	if list == nil {
		return 0
	}
	return list[i]
}
