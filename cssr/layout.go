package cssr

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// layout says which stages a pipeline has, which stages of the configuration
// they come from, and where they sit.
type layout struct {
	chunks  int     // stages made of each stage of the configuration
	origins []int   // by stage: the stage of the configuration that it is a chunk of
	dealt   []int   // the stages that are chunks of stages of the configuration, in their order
	after   [][]int // by stage: the stages that it follows
	devices [][]int // by stage: one device, or a gang
	cut     *cut    // the network behind the stages; nil without a model

	further [][][]int // by further route and stage
	routeOf []int     // by micro-batch; nil for a single route
}

// origin returns the stage of the configuration that a stage is a chunk of.
func (l *layout) origin(stage int) int { return l.origins[stage] }

// stages returns the number of stages.
func (l *layout) stages() int { return len(l.devices) }

// newLayout applies SplitStages and Placement, and cuts a model into the stages.
func newLayout(cfg *config.Config, choices Choices) (*layout, error) {
	l := &layout{chunks: max(choices.SplitStages, 1)}
	if choices.SplitStages != 0 {
		if err := checkSplit(cfg, choices.SplitStages); err != nil {
			return nil, err
		}
	}
	devices, err := place(cfg, l.chunks*cfg.Stages, choices.Placement)
	if err != nil {
		return nil, err
	}
	routes, err := l.routes(cfg, choices, devices)
	if err != nil {
		return nil, err
	}
	if cfg.Model != nil {
		return l, l.cutModel(cfg, choices, routes)
	}
	l.devices, l.further, l.origins = devices, routes[1:], make([]int, len(devices))
	for s := range l.origins {
		l.origins[s] = s / l.chunks
		l.dealt = append(l.dealt, s)
	}
	l.connect(cfg.Edges)
	return l, nil
}

// checkSplit tests whether the stages can be divided into chunks.
func checkSplit(cfg *config.Config, chunks int) error {
	switch {
	case chunks < 1:
		return splitError(chunks, "there must be at least 1 chunk", "give a number from 1 up")
	case chunks > config.MaxStages/cfg.Stages:
		return splitError(chunks, fmt.Sprintf("%d stages would become more than %d", cfg.Stages, config.MaxStages), "use fewer chunks").
			at(cfg.Locate("stages", "devices"))
	case chunks == 1:
		return nil
	case cfg.Model == nil && !isChain(cfg):
		return splitError(chunks, "the stages do not form a chain", "leave edges out, or write the chunks as stages").
			at(cfg.Locate("edges", "profile.edges"))
	}
	for s, c := range cfg.Costs {
		if c.BackwardWeight != nil && !c.SendsGradient() {
			return splitError(chunks, fmt.Sprintf("stage %d has no backward_input, which its later chunks would need for its first", s),
				"write the chunks as stages").at(costSource(cfg).site(backwardInput, s).place(cfg))
		}
	}
	return nil
}

// splitError returns a [ChoiceError] for SplitStages.
func splitError(chunks int, problem, remedy string) *ChoiceError {
	return &ChoiceError{fmt.Sprintf("split-stages %d", chunks), problem, remedy}
}

// isChain reports whether stage s + 1 follows stage s, and there is no other
// edge.
func isChain(cfg *config.Config) bool {
	skips := func(e config.Edge) bool { return e.To != e.From+1 }
	return len(cfg.Edges) == cfg.Stages-1 && !slices.ContainsFunc(cfg.Edges, skips)
}

// place returns the devices of each stage by the named rule, or else by that of
// the configuration.
func place(cfg *config.Config, stages int, name string) ([][]int, error) {
	rule, devices := cfg.Placement.Rule, len(cfg.Devices)
	if name != "" {
		rule = config.PlacementRule(name)
		if err := checkPlacement(cfg, rule, stages); err != nil {
			return nil, err
		}
	}
	return layOut(config.Placement{Rule: rule, Devices: cfg.Placement.Devices}, stages, devices)
}

// layOut returns the devices of each of so many stages. A list is repeated, and
// linear goes on as loop does.
func layOut(p config.Placement, stages, devices int) ([][]int, error) {
	switch p.Rule {
	case config.Vee:
		return model.VPlacement(stages, devices)
	case config.Listed:
		return repeat(p.Devices, stages), nil
	}
	return model.LoopPlacement(stages, devices), nil
}

// checkPlacement tests whether a rule can replace the placement of cfg, with so many
// stages.
func checkPlacement(cfg *config.Config, rule config.PlacementRule, stages int) error {
	refuse := func(problem, remedy string) *ChoiceError {
		return &ChoiceError{"placement " + string(rule), problem, remedy}
	}
	if rule != config.Linear && rule != config.Loop && rule != config.Vee {
		return refuse("it is not known", "use linear, loop or v")
	}
	if len(cfg.Routes) > 0 {
		return refuse("the configuration has routes, each with a placement of its own", "leave the routes out").at(cfg.Locate("routes"))
	}
	devices := len(cfg.Devices)
	counts := fmt.Sprintf("not %d on %d", stages, devices)
	switch {
	case rule == config.Linear && stages != devices:
		return refuse("it needs as many stages as devices, "+counts, "use loop").at(cfg.Locate("stages", "devices"))
	case rule == config.Vee && stages%devices != 0:
		return refuse("it needs a multiple of the devices as stages, "+counts, "use loop").at(cfg.Locate("stages", "devices"))
	}
	for s, gang := range cfg.Placement.Devices {
		if len(gang) > 1 {
			return refuse(fmt.Sprintf("stage %d sits on a gang of %d devices", s, len(gang)),
				"place each stage on one device, or keep the placement of the configuration").
				at(cfg.Locate(fmt.Sprintf("placement[%d]", s)))
		}
	}
	return nil
}

// repeat goes through the list of devices again and again.
func repeat(list [][]int, stages int) [][]int {
	devices := make([][]int, stages)
	for s := range devices {
		devices[s] = slices.Clone(list[s%len(list)])
	}
	return devices
}

// connect sets the stage graph: that of the configuration, or the chain of
// chunks.
func (l *layout) connect(edges []config.Edge) {
	l.after = make([][]int, l.stages())
	if l.chunks == 1 {
		for _, e := range edges {
			l.after[e.To] = append(l.after[e.To], e.From)
		}
		return
	}
	for s := 1; s < l.stages(); s++ {
		l.after[s] = []int{s - 1}
	}
}
