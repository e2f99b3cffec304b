package config

import (
	"fmt"
	"path"
)

// readProfile reads the profile that the configuration names; nil if that fails.
func (d *decoder) readProfile(v value) *profileDocument {
	name, ok := v.text()
	if !ok {
		return nil
	}
	if d.fsys == nil {
		v.fail("a profile is read from beside the configuration's file, and there is no such file", "give the configuration as a file")
		return nil
	}
	if !path.IsAbs(name) {
		name = path.Join(path.Dir(v.doc.file), name)
	}
	data, err := readFile(d.fsys, name)
	if err != nil {
		v.fail("the profile cannot be read: "+err.Error(), "name a file relative to the configuration")
		return nil
	}
	p, ok := parseProfile(data, name, &d.problems)
	if !ok {
		return nil
	}
	d.config.Profile, d.config.profileRoot = p.result, p.root
	return p
}

// hasStages fails for a profile of layers only, which says nothing about stages.
func (p *profileDocument) hasStages() bool {
	if p.result.Stages != nil {
		return true
	}
	p.root.get("stages").failMissing("measure stages, or give the model that the layers are of")
	return false
}

// stage returns the place of one stage in the profile.
func (p *profileDocument) stage(stage int) value { return p.root.get("stages").item(stage) }

// durations returns what the profile says about each stage, in unit. A kind that was
// not measured is an operation that the stage does not have; a stage with no backward
// but backward_full can run fused only.
func (p *profileDocument) durations(unit Unit) []stageDurations {
	list := make([]stageDurations, len(p.result.Stages))
	for i := range list {
		at := p.stage(i).get("durations")
		measured := p.result.Stages[i].Durations
		entry := func(key string, m *Measurement) cell[Decimal] {
			c := cell[Decimal]{at: at.get(key)}
			if m != nil {
				duration := m.Median.convert(p.result.Unit, unit)
				c.value = &duration
			}
			return c
		}
		list[i] = stageDurations{
			forward:     entry("forward", &measured.Forward),
			input:       entry("backward_input", measured.BackwardInput),
			weight:      entry("backward_weight", measured.BackwardWeight),
			full:        entry("backward_full", measured.BackwardFull),
			overlapped:  entry("overlapped", measured.Overlapped),
			leftOut:     measured.BackwardInput == nil && measured.BackwardWeight == nil && measured.BackwardFull != nil,
			defaultFull: measured.BackwardFull == nil,
		}
	}
	return list
}

// memory returns what each stage holds, nil when the profile does not say.
func (p *profileDocument) memory() []StageMemory {
	if p.result.Stages[0].Memory == nil {
		return nil
	}
	memory := make([]StageMemory, len(p.result.Stages))
	for i, stage := range p.result.Stages {
		memory[i] = StageMemory(*stage.Memory)
	}
	return memory
}

// readEdgeLatency takes the latency of each edge of the configuration from its
// profile, in the unit of the configuration.
func (d *decoder) readEdgeLatency() {
	if d.profile == nil || d.profile.result.Edges == nil {
		return
	}
	measured := map[Edge]Decimal{}
	for i, edge := range d.profile.edges() {
		measured[edge] = d.profile.result.Edges[i].Latency.convert(d.profile.result.Unit, d.config.Unit)
	}
	latencies := make([]Decimal, len(d.config.Edges))
	for i, edge := range d.config.Edges {
		latency, found := measured[edge]
		if !found {
			d.root.get("edges").item(i).fail(
				fmt.Sprintf("the profile has no latency for the edge from %d to %d", edge.From, edge.To),
				"measure it, or leave edges out of the profile and give communication.latency")
			return
		}
		latencies[i] = latency
	}
	d.config.Communication.EdgeLatency = latencies
}
