package partition

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
)

// A Problem is a chain of layers, the stages to cut it into, and the devices that run
// them. Solving reads it only.
type Problem struct {
	// Layers is the chain, in the order of the forward.
	Layers []Layer
	// Recompute lists what each stage may choose from, in ascending order; nil
	// means no recomputation.
	Recompute []network.Recompute
	// Group has an entry for each stage: stages of one group share a device. Groups
	// are 0, 1, ... without gaps. [LinearGroups], [LoopGroups] and [VeeGroups] give the usual
	// ones.
	Group []int
	// InFlight has an entry for each stage: the most micro-batches of which it
	// holds activations at a time, at least 1. See [OneForwardOneBackward] and
	// [Interleaved].
	InFlight []int
	// Devices has an entry for each group, or more if the assignment is free.
	Devices []Device
	// FreeAssignment lets any device run any group; else group g is on device g.
	FreeAssignment bool
}

// A Layer is the smallest part of the chain.
type Layer struct {
	// Modes has the cost of one micro-batch by network.Recompute.
	Modes []Mode
	// Static is the bytes that the layer keeps throughout.
	Static int64
	// Tied is the bytes kept beside Static unless the first layer of the chain,
	// which owns what is tied, is on the same stage.
	Tied int64
}

// A Mode is the cost of one micro-batch on a layer under one recomputation.
type Mode struct {
	// Work is the time of forward and backward on a device with Factor 1, in ticks.
	Work int64
	// Activation is the bytes kept for each micro-batch in flight.
	Activation int64
	// Backward is the bytes that the backward takes beyond Activation, for
	// the one micro-batch at work. It may be negative, down to -Activation; a
	// stage whose sum is negative takes nothing.
	Backward int64
	// Workspace is the bytes that recomputing needs for the moment. The largest of
	// a stage counts.
	Workspace int64
}

// A Device runs the stages of a group.
type Device struct {
	// Factor multiplies Work; 0 means 1. For slowdowns of 1 and 1.25, say 4 and 5:
	// busiest and latency are then in quarters of a tick.
	Factor int64
	// Limit is the bytes that it can hold; 0 means no limit.
	Limit int64
}

func (d Device) factor() int64 { return max(1, d.Factor) }

// LinearGroups gives each stage a device of its own.
func LinearGroups(stages int) []int { return LoopGroups(stages, stages) }

// LoopGroups puts stage s on device s mod devices.
func LoopGroups(stages, devices int) []int {
	g := make([]int, stages)
	for s := range g {
		g[s] = s % devices
	}
	return g
}

// VeeGroups runs through the devices forwards and backwards in turn: 0, ..., P-1, P-1,
// ..., 0, 0, ...
func VeeGroups(stages, devices int) []int {
	g := LoopGroups(stages, devices)
	for s := range g {
		if s/devices%2 == 1 {
			g[s] = devices - 1 - g[s]
		}
	}
	return g
}

// OneForwardOneBackward returns the micro-batches in flight by stage under the schedule of that name
// (Narayanan et al., "PipeDream", SOSP 2019) with one stage per device: stages - s on
// stage s, but no more than there are.
func OneForwardOneBackward(stages, microBatches int) []int {
	list := make([]int, stages)
	for s := range list {
		list[s] = min(stages-s, microBatches)
	}
	return list
}

// Interleaved returns the micro-batches in flight by stage under interleaved 1F1B (Narayanan
// et al., SC 2021, Section 2.2) on [LoopGroups], with the 2·(P-1-d) + (v-1)·P warm-up
// forwards that Megatron-LM runs on device d of P with v stages each, P micro-batches
// of a stage at a time. Stages must be a multiple of devices. A stage holds most just before
// its backwards begin. The stages of a device reach their peaks at different times, so the sum is on the
// safe side.
func Interleaved(stages, devices, microBatches int) []int {
	laps := stages / devices
	if laps == 1 {
		return OneForwardOneBackward(stages, microBatches)
	}
	list := make([]int, stages)
	for s := range list {
		lap, d := s/devices, s%devices
		later := (laps - 1 - lap) * devices // backwards that come first
		forwards := 2*(devices-1-d) + (laps-1)*devices + 1 + later
		rounds, rest := forwards/stages, forwards%stages
		own := rounds*devices + min(max(rest-lap*devices, 0), devices)
		list[s] = min(own, microBatches)
	}
	return list
}

// maxTotal bounds every sum of work and of bytes, so that none overflows.
const maxTotal = 1 << 60

// A ProblemError reports a [Problem] that makes no sense.
type ProblemError struct {
	Field   string // such as "Group[3]"
	Problem string // what is wrong, and what would be right
}

func (e *ProblemError) Error() string { return "partition: " + e.Field + " " + e.Problem }

func problemErrorf(field, format string, args ...any) error {
	return &ProblemError{field, fmt.Sprintf(format, args...)}
}

// Check returns a [*ProblemError] for the first mistake, nil if there is none.
func (p *Problem) Check() error {
	for _, check := range []func() error{p.checkStages, p.checkModes, p.checkDevices, p.checkLayers, p.checkSize} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Problem) checkStages() error {
	switch n, stages := len(p.Layers), len(p.Group); {
	case stages < 1:
		return problemErrorf("Group", "is empty; there must be at least 1 stage")
	case stages > n:
		return problemErrorf("Group", "has %s for %s; each needs at least 1 layer", model.Plural(stages, "stage"), model.Plural(n, "layer"))
	case len(p.InFlight) != stages:
		return problemErrorf("InFlight", "has %d entries for %s", len(p.InFlight), model.Plural(stages, "stage"))
	}
	for s, count := range p.InFlight {
		if count < 1 {
			return problemErrorf(fmt.Sprintf("InFlight[%d]", s), "is %d; it must be at least 1", count)
		}
	}
	return nil
}

func (p *Problem) checkModes() error {
	for i, r := range p.Recompute {
		if i > 0 && r <= p.Recompute[i-1] {
			return problemErrorf("Recompute", "is %v; list each once, in ascending order", p.Recompute)
		}
	}
	return nil
}

func (p *Problem) checkDevices() error {
	used := make([]bool, len(p.Group))
	groups := 0
	for s, g := range p.Group {
		if g < 0 || g >= len(p.Group) {
			return problemErrorf(fmt.Sprintf("Group[%d]", s), "is %d; groups are 0, 1, ... without gaps", g)
		}
		used[g] = true
		groups = max(groups, g+1)
	}
	if gap := slices.Index(used[:groups], false); gap >= 0 {
		return problemErrorf("Group", "has no stage of group %d; groups are 0, 1, ... without gaps", gap)
	}
	if n := len(p.Devices); n < groups || n > groups && !p.FreeAssignment {
		return problemErrorf("Devices", "has %d entries for %s", n, model.Plural(groups, "group"))
	}
	for d, device := range p.Devices {
		if device.Factor < 0 || device.Limit < 0 {
			return problemErrorf(fmt.Sprintf("Devices[%d]", d), "is %+v; neither may be negative", device)
		}
	}
	return nil
}

func (p *Problem) checkLayers() error {
	modes := p.modes()
	for i := range p.Layers {
		l := &p.Layers[i]
		field := fmt.Sprintf("Layers[%d]", i)
		if most := int(modes[len(modes)-1]); most >= len(l.Modes) {
			return problemErrorf(field, "has %d modes; %v is allowed and needs %d", len(l.Modes), modes[len(modes)-1], most+1)
		}
		if l.Static < 0 || l.Tied < 0 {
			return problemErrorf(field, "has %d static and %d tied bytes; neither may be negative", l.Static, l.Tied)
		}
		for r, m := range l.Modes {
			if m.Work < 0 || m.Activation < 0 || m.Workspace < 0 || m.Backward < -m.Activation {
				return problemErrorf(fmt.Sprintf("%s.Modes[%d]", field, r), "is %+v; only Backward may be negative, down to -Activation", m)
			}
		}
	}
	return nil
}

// checkSize bounds the work of all layers on the slowest device and the bytes of
// all layers with the most micro-batches in flight.
func (p *Problem) checkSize() error {
	work, bytes := new(big.Int), new(big.Int)
	add := func(sum *big.Int, n, times int64) {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(n), big.NewInt(times)))
	}
	factor, inFlight := int64(1), int64(slices.Max(p.InFlight))
	for _, d := range p.Devices {
		factor = max(factor, d.factor())
	}
	for i := range p.Layers {
		l := &p.Layers[i]
		add(bytes, l.Static, 1)
		add(bytes, l.Tied, 1)
		for _, m := range l.Modes {
			add(work, m.Work, factor)
			add(bytes, m.Activation, inFlight)
			add(bytes, max(0, m.Backward), 1)
			add(bytes, m.Workspace, int64(len(p.Group)))
		}
	}
	most := big.NewInt(maxTotal)
	if work.Cmp(most) > 0 || bytes.Cmp(most) > 0 {
		return problemErrorf("Layers", "have more work or bytes than 64 bits can sum up; use larger ticks or units")
	}
	return nil
}

// modes returns what a stage may choose from.
func (p *Problem) modes() []network.Recompute {
	if p.Recompute == nil {
		return []network.Recompute{network.RecomputeNone}
	}
	return p.Recompute
}

// groups returns the number of groups.
func (p *Problem) groups() int { return slices.Max(p.Group) + 1 }
