package dsl

import (
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/starlark"

	"github.com/flexpipe/flexpipe/cssr"
)

// pipeline is the value that config() and pipeline() return. Its methods change it and
// return it, so that they chain.
type pipeline struct {
	run    *run
	spec   *cssr.Spec
	source string          // name of the configuration's document
	sites  map[string]site // by key of the configuration, of a point, or by method: where it was given last

	operations int               // how many operation() has added
	letters    map[string]string // of operations that the script has added, by name
	orders     map[int][]ordered // by device: where its order was given
}

// ordered is where a part of an order was given.
type ordered struct {
	end  int // position behind its last operation
	site site
}

// Every value of the language is one of these.
var (
	_ starlark.HasAttrs = (*pipeline)(nil)
	_ starlark.Value    = operation{}
)

func (p *pipeline) String() string {
	return fmt.Sprintf("pipeline(devices = %d, stages = %d, micro_batches = %d)",
		len(p.spec.Config().Devices), p.spec.Stages(), p.spec.Config().MicroBatches)
}
func (p *pipeline) Type() string         { return "pipeline" }
func (p *pipeline) Freeze()              {}
func (p *pipeline) Truth() starlark.Bool { return starlark.True }
func (p *pipeline) Hash() (uint32, error) {
	return 0, &fault{problem: "a pipeline is no key of a dict", remedy: "use its name"}
}

// method is a method of a pipeline. It returns the value of the call; nil is p itself.
type method = func(*pipeline, *call) (starlark.Value, error)

// call is a call of a method.
type call struct {
	thread  *starlark.Thread
	builtin *starlark.Builtin
	args    starlark.Tuple
	kwargs  []starlark.Tuple
	site    site
}

// unpack assigns the arguments.
func (c *call) unpack(p ...any) error { return unpack(c.builtin, c.args, c.kwargs, p) }

// methods are the methods by name.
var methods = map[string]method{
	"place": (*pipeline).place, "bidirectional": (*pipeline).bidirectional, "backward": (*pipeline).backward, "objective": (*pipeline).objective,
	"point": (*pipeline).point, "partition": (*pipeline).partition, "recompute": (*pipeline).recompute,
	"prefer": (*pipeline).prefer, "traverse": (*pipeline).traverse, "in_flight": (*pipeline).inFlight,
	"memory": (*pipeline).memory, "weights": (*pipeline).weights, "patience": (*pipeline).patience,
	"operation": (*pipeline).operation, "order": (*pipeline).order, "schedule": (*pipeline).schedule,
	"stage_of": (*pipeline).stageOf, "device_of": (*pipeline).deviceOf, "stages_on": (*pipeline).stagesOn,
}

var attributes = []string{"devices", "stages", "micro_batches", "name"}

// AttrNames lists attributes and methods.
func (p *pipeline) AttrNames() []string {
	return slices.Sorted(slices.Values(slices.Concat(attributes, slices.Collect(maps.Keys(methods)))))
}

// Attr returns an attribute, or a method bound to p.
func (p *pipeline) Attr(name string) (starlark.Value, error) {
	cfg := p.spec.Config()
	switch name {
	case "devices":
		return starlark.MakeInt(len(cfg.Devices)), nil
	case "stages":
		return starlark.MakeInt(p.spec.Stages()), nil
	case "micro_batches":
		return starlark.MakeInt(cfg.MicroBatches), nil
	case "name":
		return starlark.String(cfg.Name), nil
	}
	m, known := methods[name]
	if !known {
		return nil, nil
	}
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		value, err := m(p, &call{thread, b, args, kwargs, p.run.here(thread)})
		if err != nil {
			return nil, err
		}
		if err := p.spec.Err(); err != nil {
			return nil, p.run.located(p, err)
		}
		if value == nil {
			return p, nil
		}
		return value, nil
	}), nil
}

// own returns the number of operations that the configuration has of its own.
func (p *pipeline) own() int { return len(p.spec.Config().Operations) }

// note remembers where keys are given.
func (p *pipeline) note(s site, keys ...string) {
	for _, key := range keys {
		p.sites[key] = s
	}
}

// stageOf is p.stage_of(device, chunk = 0): the chunk-th stage on a device.
func (p *pipeline) stageOf(c *call) (starlark.Value, error) {
	var device, chunk int
	if err := c.unpack("device", &device, "chunk?", &chunk); err != nil {
		return nil, err
	}
	if err := p.known("device", device, len(p.spec.Config().Devices)); err != nil {
		return nil, err
	}
	stages := p.spec.StagesOn(device)
	if chunk < 0 || chunk >= len(stages) {
		return nil, &fault{arg: "chunk", index: 2, problem: fmt.Sprintf("device %d has no chunk %d", device, chunk), remedy: fmt.Sprintf("its stages are %v", stages)}
	}
	return starlark.MakeInt(stages[chunk]), nil
}

// deviceOf is p.device_of(stage): its device, or the list of those of a gang.
func (p *pipeline) deviceOf(c *call) (starlark.Value, error) {
	var stage int
	if err := c.unpack("stage", &stage); err != nil {
		return nil, err
	}
	if err := p.known("stage", stage, p.spec.Stages()); err != nil {
		return nil, err
	}
	devices := p.spec.DevicesOf(stage)
	if len(devices) == 1 {
		return starlark.MakeInt(devices[0]), nil
	}
	return numbers(devices), nil
}

// stagesOn is p.stages_on(device): the stages that a device holds, ascending.
func (p *pipeline) stagesOn(c *call) (starlark.Value, error) {
	var device int
	if err := c.unpack("device", &device); err != nil {
		return nil, err
	}
	if err := p.known("device", device, len(p.spec.Config().Devices)); err != nil {
		return nil, err
	}
	return numbers(p.spec.StagesOn(device)), nil
}

// known tests that there is a device or stage of a number.
func (p *pipeline) known(noun string, number, count int) error {
	if number < 0 || number >= count {
		return &fault{arg: noun, index: 1, problem: fmt.Sprintf("there is no %s %d", noun, number), remedy: fmt.Sprintf("write one from 0 to %d", count-1)}
	}
	return nil
}

// numbers returns a list of numbers.
func numbers(list []int) *starlark.List {
	values := make([]starlark.Value, len(list))
	for i, n := range list {
		values[i] = starlark.MakeInt(n)
	}
	return starlark.NewList(values)
}
