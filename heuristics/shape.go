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
	if !c.lay(s.Placement) || s.chunks != 0 && c.chunks != s.chunks {
		return nil, s.misplaced(p, len(c.devices))
	}
	c.index()
	return c, nil
}

// checkStages tests that the stages form a chain, and that each sits on one
// device.
func checkStages(s Schedule, p *model.Problem) error {
	for i, st := range p.Pipeline.Stages {
		switch {
		case len(st.Replicas) > 1:
			return &ShapeError{s.Name, "one place for each stage", fmt.Sprintf("stage %d in %d replicas", i, len(st.Replicas)), "use one route"}
		case len(st.Replicas[0].Devices) > 1:
			return &ShapeError{s.Name, "stages on one device each", fmt.Sprintf("a gang: stage %d on %d devices", i, len(st.Replicas[0].Devices)), "place the stage on one device, or use --mode heuristic"}
		case i == 0 && len(st.After) > 0, i > 0 && (len(st.After) != 1 || st.After[0] != i-1):
			return &ShapeError{s.Name, "stages that form a chain", fmt.Sprintf("stage %d after %s", i, stageList(st.After)), "leave edges out, or use --mode heuristic"}
		}
	}
	return nil
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
	if p.HasChoice {
		return &ShapeError{s.Name, "backward: " + s.Backward.String(), "backward: auto", "set one mode for all stages"}
	}
	for r := range p.Rows {
		row := &p.Rows[r]
		switch {
		case row.Kind.IsTransfer():
			return &ShapeError{s.Name, "communication mode: overlapped", "mode: blocking", "named schedules place no blocking transfers; use --mode heuristic"}
		case row.Kind > model.BackwardFull || row.Single || row.Stage < 0:
			return &ShapeError{s.Name, "forward and backward operations only", p.Kinds[row.Kind].Name, "use --mode heuristic"}
		case row.Kind == model.BackwardFull && s.Backward == model.Split:
			return &ShapeError{s.Name, "backward: split", fmt.Sprintf("stage %d with a full backward", row.Stage), "give backward_input and backward_weight apart and set backward: split"}
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
		e.Needs = fmt.Sprintf("placement: %s with as many stages on each device", s.Placement)
		e.Fix = fmt.Sprintf("set placement: %s and make stages a multiple of %d", s.Placement, devices)
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
