package tune

import (
	"fmt"
	"slices"
	"sync"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// An axis is a dimension of the space: a few options, by number.
type axis struct {
	name    string
	options int
	// collapses reports whether a shape makes all options alike; nil: none does.
	collapses func(s *shape) bool
	// choose sets an option of a draft.
	choose func(d *draft, option int)
}

// draft is a point before it is resolved: partition and recomputation by rule,
// bounds as multiples.
type draft struct {
	choices   cssr.Choices
	partition string // as in cssr.Space
	recompute string

	policy   cssr.Policy
	inFlight float64
	patience int
}

// coordinates are the options of a point, axis by axis: those that shape the
// problem first.
type coordinates []uint8

func (c coordinates) key() string { return string(c) }

// grid is the space of a configuration as axes.
type grid struct {
	cfg    *config.Config
	base   cssr.Choices        // what holds for all points
	shapes []axis              // shape the problem
	orders []axis              // shape the policy
	recuts bool                // the partition is the tuner's to choose
	modes  []network.Recompute // ways to recompute that layers have costs for

	fits    sync.Map      // partitions by what they are for: *fitting
	openers []coordinates // of the policy: options that often do well together
}

// layout is a placement with a number of chunks per stage of the configuration.
type layout struct {
	placement string // "": as configured
	chunks    int
}

// newGrid fills the lists that space leaves empty with what makes sense for a
// configuration, and makes axes of all.
//
// The objective and the direction of the start, which may be nil, hold for all points.
func newGrid(cfg *config.Config, space cssr.Space, start *cssr.Point) (*grid, error) {
	g := &grid{cfg: cfg}
	if start != nil {
		g.base.Objective, g.base.Bidirectional = start.Choices.Objective, start.Choices.Bidirectional
	}
	if err := checkSpace(cfg, &space); err != nil {
		return nil, err
	}
	if cfg.Model != nil {
		var err error
		if g.modes, err = cssr.Recomputable(cfg); err != nil {
			return nil, err
		}
		if err := checkMeasured(cfg, &space, g.modes); err != nil {
			return nil, err
		}
	}
	layouts := layoutsOf(cfg, &space)
	if len(layouts) == 0 {
		return nil, &SpaceError{"placement", "linear has one stage on each device", "let chunks be 1, or allow loop or v"}
	}
	g.shape("layout", len(layouts), func(d *draft, i int) {
		d.choices.Placement, d.choices.SplitStages = layouts[i].placement, layouts[i].chunks
	})
	backwards := or(space.Backwards, backwardsOf(cfg))
	g.shape("backward", len(backwards), func(d *draft, i int) {
		if mode, ok := backwardModes[backwards[i]]; ok {
			d.choices.Backward = &mode
		}
	})
	if cfg.Model != nil {
		g.addModel(cfg, &space)
	}
	g.addOrders(cfg, &space)
	shapes := 1
	for _, a := range g.shapes {
		if shapes *= a.options; shapes > maxShapes {
			return nil, &SpaceError{a.name, fmt.Sprintf("with it there are more than %d problems to build", maxShapes), "leave some options out"}
		}
	}
	return g, nil
}

// maxShapes bounds the problems of a space.
const maxShapes = 20_000

var backwardModes = map[string]model.Mode{"split": model.Split, "fused": model.Fused, "auto": model.Auto}

// addModel adds the axes of networks whose costs follow from their layers.
func (g *grid) addModel(cfg *config.Config, space *cssr.Space) {
	vocabulary := or(space.Vocabulary, vocabularyOf(cfg))
	g.shape("vocabulary", len(vocabulary), func(d *draft, i int) { d.choices.Vocabulary = vocabulary[i] })
	sizes := or(space.MicroBatchSizes, sizesOf(cfg))
	g.shape("micro-batch size", len(sizes), func(d *draft, i int) {
		if sizes[i] != cfg.Model.MicroBatchSize {
			d.choices.MicroBatchSize = sizes[i]
		}
	})
	layers := layersOf(cfg, space, g.modes)
	g.recuts = len(space.Partitions) == 0 || slices.Contains(space.Partitions, Fit)
	g.shape("layers", len(layers), func(d *draft, i int) { d.partition, d.recompute = layers[i].partition, layers[i].recompute })
}

// layering is a rule for the layers of the stages, and one for what they recompute.
type layering struct{ partition, recompute string }

// layersOf lists partitions with recomputation. By itself it leaves out what package
// partition weighs anyway when it chooses both, and for networks of several chains,
// which that package refuses, all that it would choose, with the ways to recompute that
// have costs.
func layersOf(cfg *config.Config, space *cssr.Space, modes []network.Recompute) []layering {
	list := []layering{{Configured, Configured}, {Fit, Configured}, {Fit, Fit}}
	rules := []string{"even"}
	if len(cfg.Model.Parts) > 1 {
		list, rules = list[:1], []string{"balanced", "even"}
	}
	if len(space.Partitions) > 0 || len(space.Recompute) > 0 {
		list, rules = nil, or(space.Partitions, append(rules, Configured, Fit))
	}
	words := []string{Configured, Fit}
	for _, mode := range modes {
		words = append(words, mode.String())
	}
	for _, partition := range rules {
		for _, recompute := range or(space.Recompute, words) {
			if recompute != Fit || partition == Fit || len(space.Recompute) > 0 {
				list = append(list, layering{partition, recompute})
			}
		}
	}
	return list
}

// addOrders adds the axes of the policy.
func (g *grid) addOrders(cfg *config.Config, space *cssr.Space) {
	types := space.Types
	if types == nil {
		types = [][]string{{"I", "B", "F", "W"}, {"F", "I", "B", "W"}}
	}
	g.order("types", len(types), nil, func(d *draft, i int) { d.policy.Types = types[i] })
	weights := or(space.Weights, []string{"fill", "deferred", "at-once"})
	g.order("weights", len(weights), func(s *shape) bool { return !s.splits }, func(d *draft, i int) {
		d.policy.Weights.Mode = weightModes[weights[i]]
	})
	inFlight := or(space.InFlight, []float64{1, 1.25, 1.5, 2, 0})
	g.order("in flight", len(inFlight), nil, func(d *draft, i int) { d.inFlight = inFlight[i] })
	traversals := or(space.Traversals, []string{"breadth-first", "depth-first", "wave"})
	alone := func(s *shape) bool { return s.chunks <= 1 }
	g.order("traversal", len(traversals), alone, func(d *draft, i int) { d.policy.Traversal = traversalsByName[traversals[i]] })
	groups := or(space.Groups, groupsOf(cfg))
	g.order("group", len(groups), alone, func(d *draft, i int) { d.policy.Group = groups[i] })
	patience := or(space.Patience, []int{0, 4, 8})
	g.order("patience", len(patience), nil, func(d *draft, i int) { d.patience = patience[i] })
	for _, o := range openers {
		byForward := slices.IndexFunc(types, func(list []string) bool { return (len(list) > 0 && list[0] == "F") == o.forwards })
		g.openers = append(g.openers, coordinates{
			option(byForward), option(slices.Index(weights, o.weights)), option(slices.Index(inFlight, o.inFlight)),
			option(slices.Index(traversals, o.traversal)), 0, option(slices.Index(patience, o.patience)),
		})
	}
}

// openers are policies to begin with, beside that of the first options. In the order
// of the axes.
var openers = []struct {
	forwards  bool // before gradients
	weights   string
	inFlight  float64
	traversal string
	patience  int
}{
	{true, "deferred", 1.5, "wave", 4},
	{false, "deferred", 0, "depth-first", 0},
}

// option returns the number of an option, the first where there is none.
func option(index int) uint8 { return uint8(max(0, index)) }

func (g *grid) shape(name string, options int, choose func(*draft, int)) {
	g.shapes = append(g.shapes, axis{name: name, options: options, choose: choose})
}

func (g *grid) order(name string, options int, collapses func(*shape) bool, choose func(*draft, int)) {
	g.orders = append(g.orders, axis{name: name, options: options, collapses: collapses, choose: choose})
}

// draftOf applies the options of a point.
func (g *grid) draftOf(at coordinates) *draft {
	d := &draft{choices: g.base}
	for i, o := range at {
		if i < len(g.shapes) {
			g.shapes[i].choose(d, int(o))
		} else {
			g.orders[i-len(g.shapes)].choose(d, int(o))
		}
	}
	return d
}

// canonical sets the options that a shape makes alike to the first of them.
func (g *grid) canonical(s *shape, at coordinates) coordinates {
	at = slices.Clone(at)
	for i, a := range g.orders {
		if a.collapses != nil && a.collapses(s) {
			at[len(g.shapes)+i] = 0
		}
	}
	return at
}

// policies returns the number of different policies for a shape.
func (g *grid) policies(s *shape) int {
	n := 1
	for _, a := range g.orders {
		if a.collapses == nil || !a.collapses(s) {
			n *= a.options
		}
	}
	return n
}

// eachShape calls f with the options of every shape, in ascending order. The slice
// is a new one each time.
func (g *grid) eachShape(f func(coordinates)) {
	at := make(coordinates, len(g.shapes))
	for {
		f(slices.Clone(at))
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i]++; int(at[i]) < g.shapes[i].options {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// or returns the list, or the other one if it is empty.
func or[T any](list, otherwise []T) []T {
	if len(list) > 0 {
		return list
	}
	return otherwise
}

// layoutsOf lists placements with chunks. Placements that cannot be for a
// configuration are left to the shapes, which refuse them.
func layoutsOf(cfg *config.Config, space *cssr.Space) []layout {
	var list []layout
	add := func(l layout) {
		if !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	if len(space.Placements) == 0 && len(space.Chunks) == 0 {
		add(layout{})
	}
	fixed := cfg.Placement.Rule == config.Listed || cfg.Routes != nil
	placements := or(space.Placements, []string{"linear", "loop", "v"})
	if fixed && len(space.Placements) == 0 {
		placements = []string{""}
	}
	for _, chunks := range or(space.Chunks, chunksOf(cfg)) {
		for _, placement := range placements {
			if placement != "linear" || chunks == 1 {
				add(layout{placement, chunks})
			}
		}
	}
	return list
}

// mostChunks is the largest number of chunks that is tried unasked.
const mostChunks = 8

// chunksOf lists numbers of chunks: 1, 2 and 4, and those that give all stages of a
// network equally many layers.
func chunksOf(cfg *config.Config) []int {
	list := []int{1, 2, 4}
	if cfg.Model == nil {
		return list
	}
	for n := 3; n <= mostChunks; n++ {
		if n != 4 && cfg.Model.Layers()%(n*cfg.Stages) == 0 {
			list = append(list, n)
		}
	}
	return list
}

// backwardsOf lists the ways to run backward passes that make sense for a
// configuration. Leaving the choice to the plan helps only where a fused backward is
// shorter than its halves: else the halves one right after the other do what it does,
// and send the gradient earlier.
func backwardsOf(cfg *config.Config) []string {
	shorter := false
	for _, c := range cfg.Costs {
		if c.BackwardInput == nil || c.BackwardWeight == nil {
			return []string{Configured}
		}
		halves := c.BackwardInput.Rat()
		halves.Add(halves, c.BackwardWeight.Rat())
		shorter = shorter || c.BackwardFull != nil && c.BackwardFull.Rat().Cmp(halves) < 0
	}
	if shorter {
		return []string{"split", "fused", "auto"}
	}
	return []string{"split", "fused"}
}

// vocabularyOf lists where embedding and head may sit.
func vocabularyOf(cfg *config.Config) []string {
	has := slices.ContainsFunc(cfg.Model.Parts, func(p config.Part) bool { return p.Vocabulary > 0 })
	if !has || len(cfg.Devices) == 1 || cfg.Measured() {
		return []string{""}
	}
	if cfg.Model.Kind == config.GPT {
		return []string{"none", "stage", "passes"}
	}
	return []string{"none", "stage"}
}

// sizesOf lists micro-batch sizes that divide the batch of an iteration: that of
// the configuration, halves and doubles.
//
// Layers that were measured are known at their size only. A contrastive loss compares the
// samples of a micro-batch, so its size is a part of what is trained and not the tuner's to
// change unasked.
func sizesOf(cfg *config.Config) []int {
	size := cfg.Model.MicroBatchSize
	sizes := []int{size}
	if cfg.Model.Loss == config.Contrastive || cfg.Measured() {
		return sizes
	}
	for _, other := range []int{size / 2, 2 * size, 4 * size} {
		if other > 0 && cfg.GlobalBatch > 0 && cfg.GlobalBatch%other == 0 && other != size {
			sizes = append(sizes, other)
		}
	}
	return sizes
}

// groupsOf lists group sizes: none, and one or two rounds over the devices.
func groupsOf(cfg *config.Config) []int {
	devices := len(cfg.Devices)
	return []int{devices, 0, 2 * devices}
}

// SpaceError reports a list of a space that cannot be.
type SpaceError struct{ Dimension, Problem, Remedy string }

func (e *SpaceError) Error() string {
	return fmt.Sprintf("%s: %s; %s", e.Dimension, e.Problem, e.Remedy)
}
