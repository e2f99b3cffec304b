package config

import (
	"fmt"
	"slices"
)

// readMemory reads what stages hold, from the configuration or its profile, and the
// limits of the devices.
func (d *decoder) readMemory() {
	v := d.root.get("memory")
	d.config.SizesInBytes = d.config.SizesInBytes || d.config.Model != nil
	if d.profile != nil {
		d.config.Memory = d.profile.memory()
		d.config.SizesInBytes = d.config.SizesInBytes || d.config.Memory != nil
	}
	if !v.absent() && v.mapping("write keys such as activation and limit below it") {
		d.readMemorySection(v)
	}
	d.warnUnusedLimits(v.get("limit"))
	d.warnBareSize()
}

// warnBareSize remarks on a small size without a unit where sizes are in bytes.
func (d *decoder) warnBareSize() {
	if v := d.bareSize; v != nil && d.config.SizesInBytes {
		number := describe(v.node)
		d.warn(*v, fmt.Sprintf("%s is %s bytes; did you mean %sGiB?", number, number, number))
	}
}

// readMemorySection reads the section memory.
func (d *decoder) readMemorySection(v value) {
	d.readLimits(v.get("limit"))
	if source := d.otherSource(); source != "" {
		d.refuseStageMemory(v, source)
		return
	}
	d.readStageMemory(v)
}

// otherSource names the section that says what stages hold instead of `memory`; it
// is empty when there is none.
func (d *decoder) otherSource() string {
	switch {
	case d.profile != nil && d.config.Memory != nil:
		return "profile"
	case d.config.Model != nil:
		return "model"
	}
	return ""
}

// refuseStageMemory fails for the memory of stages when the source gives it.
func (d *decoder) refuseStageMemory(v value, source string) {
	for _, key := range []string{"activation", "freed_by_backward_input", "freed_by_backward_weight", "static"} {
		if part := v.get(key); !part.absent() {
			part.fail("the "+source+" gives it already", "leave it out: only limit may stand here")
		}
	}
}

// readStageMemory reads what each stage holds.
func (d *decoder) readStageMemory(v value) {
	ok := true
	read := func(key string, size func(value) (Decimal, bool)) column[Decimal] {
		col, good := perStage(v.get(key), d.config.Stages, "stage size", size)
		ok = ok && good
		return col
	}
	activation, static := read("activation", d.size), read("static", d.size)
	input, weight := read("freed_by_backward_input", d.signedSize), read("freed_by_backward_weight", d.size)
	if !ok {
		return
	}
	memory := make([]StageMemory, d.config.Stages)
	for stage := range memory {
		parts := memoryParts{
			activation: activation.cells[stage], static: static.cells[stage],
			input: input.cells[stage], weight: weight.cells[stage],
		}
		if memory[stage], ok = parts.settle(stage); !ok {
			return
		}
	}
	d.config.Memory = memory
}

// memoryParts is the memory of one stage as written.
type memoryParts struct {
	activation, input, weight, static cell[Decimal]
}

// settle fills in the defaults of one stage's memory, and fails when its parts do
// not sum to the activation.
func (p memoryParts) settle(stage int) (StageMemory, bool) {
	memory := StageMemory{
		Activation:           p.activation.or(Decimal{}),
		FreedByBackwardInput: p.input.or(Decimal{}),
		Static:               p.static.or(Decimal{}),
	}
	memory.FreedByBackwardWeight = memory.Activation.Sub(memory.FreedByBackwardInput)
	if memory.FreedByBackwardWeight.Sign() < 0 {
		p.input.at.fail(fmt.Sprintf("stage %d gives %s back, but its activation is %s", stage, memory.FreedByBackwardInput, memory.Activation),
			"give back at most the activation")
		return StageMemory{}, false
	}
	if p.weight.value != nil && !p.weight.value.Equal(memory.FreedByBackwardWeight) {
		p.weight.at.fail(fmt.Sprintf("stage %d gives %s + %s back, but its activation is %s", stage, memory.FreedByBackwardInput, p.weight.value, memory.Activation),
			"write "+memory.FreedByBackwardWeight.String()+", or leave it out")
		return StageMemory{}, false
	}
	return memory, true
}

// readLimits reads the limit of each device.
func (d *decoder) readLimits(v value) {
	if v.absent() {
		return
	}
	for i, device := range d.config.Devices {
		if device.Limit != nil {
			v.fail(fmt.Sprintf("devices[%d].memory_limit is given too", i), "keep one of the two")
			return
		}
	}
	col, ok := perStage(v, len(d.config.Devices), "device limit", d.size)
	if !ok {
		return
	}
	for i, entry := range col.cells {
		d.config.Devices[i].Limit = entry.value
	}
}

// warnUnusedLimits remarks on the first limit when there is nothing to hold. shared is
// the limit of the section memory.
func (d *decoder) warnUnusedLimits(shared value) {
	if d.config.Model != nil || slices.ContainsFunc(d.config.Memory, StageMemory.takes) {
		return
	}
	for i := range d.config.Operations {
		if d.config.Operations[i].takes() {
			return
		}
	}
	first := slices.IndexFunc(d.config.Devices, func(device Device) bool { return device.Limit != nil })
	if first < 0 {
		return
	}
	if shared.absent() {
		shared = d.root.get("devices").item(first).get("memory_limit")
	}
	d.warn(shared, "it limits nothing, because no stage takes memory")
}

// takes reports whether the stage takes any memory.
func (m StageMemory) takes() bool {
	return m.Activation.Sign() > 0 || m.Static.Sign() > 0 || m.FreedByBackwardInput.Sign() < 0
}
