package heuristics

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// ShapeError reports that a configuration has not the shape that a named
// schedule is defined for.
type ShapeError struct {
	Schedule string
	Needs    string
	Got      string
	Fix      string // how to get there
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("schedule %s needs %s, the configuration has %s: %s", e.Schedule, e.Needs, e.Got, e.Fix)
}

// newChain returns p as a chain in the placement that the schedule needs.
func newChain(s Schedule, p *model.Problem) (*chain, error) {
	for _, check := range []func(Schedule, *model.Problem) error{checkStages, checkRows} {
		if err := check(s, p); err != nil {
			return nil, err
		}
	}
	c := &chain{p: p}
	if !c.lay(s.Placement) || s.chunks != 0 && c.chunks != s.chunks || s.even && c.chunks%2 != 0 {
		return nil, s.misplaced(p, len(c.devices))
	}
	if s.Bidirectional {
		if err := c.checkReverse(s); err != nil {
			return nil, err
		}
	}
	c.index()
	return c, nil
}

// checkStages tests that the stages form a chain, and that each sits on one
// device, or on one for each route.
func checkStages(s Schedule, p *model.Problem) error {
	for i, st := range p.Pipeline.Stages {
		switch {
		case len(st.Replicas) > 1 && !s.Bidirectional:
			return &ShapeError{s.Name, "one place for each stage", fmt.Sprintf("stage %d in %d replicas", i, len(st.Replicas)), "use one route"}
		case len(st.Replicas[0].Devices) > 1:
			return &ShapeError{s.Name, "stages on one device each", fmt.Sprintf("a gang: stage %d on %d devices", i, len(st.Replicas[0].Devices)), "place the stage on one device, or use --mode heuristic"}
		case i == 0 && len(st.After) > 0, i > 0 && (len(st.After) != 1 || st.After[0] != i-1):
			return &ShapeError{s.Name, "stages that form a chain", fmt.Sprintf("stage %d after %s", i, stageList(st.After)), "leave edges out, or use --mode heuristic"}
		}
	}
	return nil
}

// checkReverse tests that there are two routes, the second of which meets the
// ranks from the last to the first, and an even number of ranks.
func (c *chain) checkReverse(s Schedule) error {
	refuse := func(got string) error {
		return &ShapeError{s.Name, "two routes, each the reverse of the other", got, "list the placement and its reverse under routes"}
	}
	if n := c.ranks(); n%2 != 0 {
		return &ShapeError{s.Name, "an even number of devices", model.Plural(n, "device"), "use one device more or less"}
	}
	if n := c.p.Pipeline.NumRoutes(); n != 2 {
		return refuse(model.Plural(n, "route"))
	}
	for i, st := range c.p.Pipeline.Stages {
		back := st.Replicas[len(st.Replicas)-1].Devices
		if want := c.devices[c.along(1, i)]; len(back) != 1 || back[0] != want {
			return refuse(fmt.Sprintf("stage %d of the second on %s, not %d", i, deviceList(back), want))
		}
	}
	return nil
}

// deviceList names the devices of a replica.
func deviceList(devices []int) string {
	if len(devices) == 1 {
		return fmt.Sprintf("device %d", devices[0])
	}
	return fmt.Sprintf("devices %v", devices)
}

// stageList names stages, or none.
func stageList(stages []int) string {
	if len(stages) == 0 {
		return "none"
	}
	return fmt.Sprintf("stages %v", stages)
}

// checkRows tests that every operation has a place in a named schedule.
func checkRows(s Schedule, p *model.Problem) error {
	for r := range p.Rows {
		row := &p.Rows[r]
		switch {
		case row.Kind.IsTransfer():
			return &ShapeError{s.Name, "communication mode: overlapped", "mode: blocking", "named schedules place no blocking transfers; use --mode heuristic"}
		case row.Kind > model.BackwardFull || row.Single || row.Stage < 0:
			return &ShapeError{s.Name, "forward and backward operations only", p.Kinds[row.Kind].Name, "use --mode heuristic"}
		case row.Kind == model.BackwardFull && row.Choice == model.Always && s.Backward != model.Fused:
			return &ShapeError{s.Name, "backward: " + s.Backward.String(), fmt.Sprintf("stage %d with a full backward only", row.Stage), "give backward_input and backward_weight apart and set backward: " + s.Backward.String()}
		}
	}
	return nil
}

// misplaced says how the stages lie, and how they should, on that many devices.
func (s Schedule) misplaced(p *model.Problem, devices int) error {
	stages, placed := len(p.Pipeline.Stages), placementName(p)
	e := &ShapeError{Schedule: s.Name, Got: fmt.Sprintf("%s with %s on %s",
		placed, model.Plural(stages, "stage"), model.Plural(devices, "device"))}
	if s.chunks == 0 {
		s.misplacedChunks(e, stages, devices)
		return e
	}
	needed := s.chunks * devices
	e.Needs = fmt.Sprintf("placement: %s with stages: %d", s.Placement, needed)
	e.Fix = "set " + lacking("placement: "+s.Placement, placed, fmt.Sprintf("stages: %d", needed), stages == needed)
	switch {
	case s.chunks > 1 && stages == devices:
		e.Fix += fmt.Sprintf(", or divide each stage with --split-stages %d", s.chunks)
	case stages > needed && stages%needed == 0:
		e.Fix += fmt.Sprintf("; if --split-stages made them %d, leave it out", stages)
	}
	return e
}

// misplacedChunks is misplaced for a schedule with any number of stages per device,
// or any even one.
func (s Schedule) misplacedChunks(e *ShapeError, stages, devices int) {
	number, multiple := "as many stages", devices
	if s.even {
		number, multiple = "an even number of stages, the same", 2*devices
	}
	e.Needs = fmt.Sprintf("placement: %s with %s on each device", s.Placement, number)
	e.Fix = fmt.Sprintf("set placement: %s and make stages a multiple of %d", s.Placement, multiple)
	if s.even && stages == devices {
		e.Fix += ", or divide each stage with --split-stages 2"
	}
}

// lacking names what must still be set: the placement, the number of stages or both.
func lacking(placement, placed, stages string, enough bool) string {
	switch {
	case enough:
		return placement
	case placed == placement:
		return stages
	}
	return placement + " and " + stages
}

// Remark says what p leaves of the idea of the schedule where that is less than
// the name promises, else it is empty. p is one that Build accepts.
func (s Schedule) Remark(p *model.Problem) string {
	c := chain{p: p}
	if s.chunks != 0 || !c.lay(s.Placement) || c.chunks != 1 {
		return ""
	}
	return "with one stage per device only; --split-stages 2 makes two of each"
}

// placementName returns how a configuration would name the placement of p.
func placementName(p *model.Problem) string {
	for _, name := range []string{"linear", "loop", "v"} {
		if c := (chain{p: p}); c.lay(name) {
			return "placement: " + name
		}
	}
	return "an irregular placement"
}
