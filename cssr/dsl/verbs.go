package dsl

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
)

// place is p.place(rule, chunks = 1): linear, loop or v; or the devices of each stage of
// the configuration, as a list or as a function of the stage.
func (p *pipeline) place(c *call) (starlark.Value, error) {
	var rule starlark.Value
	chunks := 1
	if err := c.unpack("rule", &rule, "chunks?", &chunks); err != nil {
		return nil, err
	}
	p.note(c.site.argument("rule", 1), "placement")
	p.note(c.site.argument("chunks", 2), "chunks")
	if name, ok := starlark.AsString(rule); ok {
		p.spec.Place(name, chunks)
		return nil, nil
	}
	entries, err := spread(c.thread, rule, p.spec.Config().Stages)
	if err != nil {
		return nil, of(err, "rule", 1)
	}
	devices := make([][]int, len(entries))
	for i, entry := range entries {
		if devices[i], err = wholes(c.thread, entry, 0); err != nil {
			return nil, of(err, "rule", 1)
		}
	}
	p.spec.PlaceOn(devices, chunks)
	return nil, nil
}

// bidirectional is p.bidirectional(): a second route in the opposite direction.
func (p *pipeline) bidirectional(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	p.note(c.site, "bidirectional")
	p.spec.Bidirectional()
	return nil, nil
}

// backward is p.backward(mode): split, fused or auto, or a list with one for each stage.
func (p *pipeline) backward(c *call) (starlark.Value, error) {
	var mode starlark.Value
	if err := c.unpack("mode", &mode); err != nil {
		return nil, err
	}
	modes, err := texts(c.thread, mode, p.spec.Config().Stages)
	if err != nil {
		return nil, of(err, "mode", 1)
	}
	p.note(c.site.argument("mode", 1), "backward")
	p.spec.Backward(modes...)
	return nil, nil
}

// objective is p.objective(name): makespan or span.
func (p *pipeline) objective(c *call) (starlark.Value, error) {
	var name string
	if err := c.unpack("name", &name); err != nil {
		return nil, err
	}
	p.note(c.site.argument("name", 1), "objective")
	p.spec.Objective(name)
	return nil, nil
}

// point is p.point(text): the choices and priorities of a point in one line, as tune
// prints it.
func (p *pipeline) point(c *call) (starlark.Value, error) {
	var text string
	if err := c.unpack("text", &text); err != nil {
		return nil, err
	}
	for _, word := range strings.Fields(text) {
		key, _, _ := strings.Cut(word, "=")
		p.note(c.site.argument("text", 1), key)
	}
	p.note(c.site.argument("text", 1), "point")
	p.spec.Take(text)
	return nil, nil
}

// partition is p.partition(layers): the key partition of the configuration.
func (p *pipeline) partition(c *call) (starlark.Value, error) { return p.set(c, "partition", "layers") }

// recompute is p.recompute(what): the key recompute of the configuration.
func (p *pipeline) recompute(c *call) (starlark.Value, error) { return p.set(c, "recompute", "what") }

// set replaces a key of the configuration by a value, or by a function of the stage.
func (p *pipeline) set(c *call, key, parameter string) (starlark.Value, error) {
	var v starlark.Value
	if err := c.unpack(parameter, &v); err != nil {
		return nil, err
	}
	value, err := perStage(c.thread, v, stageNumbers(p.spec.Config().Stages))
	if err != nil {
		return nil, of(err, parameter, 1)
	}
	p.note(c.site.argument(parameter, 1), key)
	p.spec.Set(key, value)
	return nil, nil
}

// prefer is p.prefer("B > F > W", actor = None, phase = None), or with a list.
func (p *pipeline) prefer(c *call) (starlark.Value, error) {
	var order, actor starlark.Value
	var phase string
	if err := c.unpack("order", &order, "actor??", &actor, "phase??", &phase); err != nil {
		return nil, err
	}
	types, err := texts(c.thread, order, 0)
	if err != nil {
		return nil, of(err, "order", 1)
	}
	if text, ok := starlark.AsString(order); ok {
		types = ranking(text)
	}
	device, when := cssr.AnyActor, cssr.AnyPhase
	if actor != nil {
		if device, err = whole(actor); err == nil {
			err = p.known("actor", device, len(p.spec.Config().Devices))
		}
		if err != nil {
			return nil, of(err, "actor", 2)
		}
	}
	if phase != "" {
		if when, err = phaseOf(phase); err != nil {
			return nil, err
		}
	}
	p.note(c.site.argument("order", 1), typesKey(device, when))
	p.spec.PreferIn(device, when, types...)
	return nil, nil
}

// ranking reads a priority such as "B > F > W".
func ranking(text string) []string {
	types := strings.Split(text, ">")
	for i := range types {
		types[i] = strings.TrimSpace(types[i])
	}
	return types
}

var phases = []cssr.Phase{cssr.WarmUp, cssr.Steady, cssr.CoolDown}

func phaseOf(name string) (cssr.Phase, error) {
	var names []string
	for _, phase := range phases {
		if phase.String() == name {
			return phase, nil
		}
		names = append(names, phase.String())
	}
	return 0, &fault{arg: "phase", index: 3, problem: fmt.Sprintf("%q is no phase", name), remedy: suggest(name, names) + "use " + list(names, "or")}
}

// typesKey returns the key of a priority in the text form of a point.
func typesKey(actor int, phase cssr.Phase) string {
	key := "types"
	if actor != cssr.AnyActor {
		key += fmt.Sprintf("@%d", actor)
	}
	if phase != cssr.AnyPhase {
		key += "." + phase.String()
	}
	return key
}

// traverse is p.traverse(order, group = 0).
func (p *pipeline) traverse(c *call) (starlark.Value, error) {
	var order string
	var group int
	if err := c.unpack("order", &order, "group?", &group); err != nil {
		return nil, err
	}
	p.note(c.site.argument("order", 1), "traversal")
	p.note(c.site.argument("group", 2), "group")
	p.spec.Traverse(order, group)
	return nil, nil
}

// inFlight is p.in_flight(most): a number, a list, or a function of the device.
func (p *pipeline) inFlight(c *call) (starlark.Value, error) {
	var most starlark.Value
	if err := c.unpack("most", &most); err != nil {
		return nil, err
	}
	counts, err := wholes(c.thread, most, len(p.spec.Config().Devices))
	if err != nil {
		return nil, of(err, "most", 1)
	}
	p.note(c.site.argument("most", 1), "in-flight")
	p.spec.InFlight(counts...)
	return nil, nil
}

// memory is p.memory(most): an amount such as "80%" or "24GB", a list, or a function of
// the device.
func (p *pipeline) memory(c *call) (starlark.Value, error) {
	var most starlark.Value
	if err := c.unpack("most", &most); err != nil {
		return nil, err
	}
	amounts, err := texts(c.thread, most, len(p.spec.Config().Devices))
	if err != nil {
		return nil, of(err, "most", 1)
	}
	p.note(c.site.argument("most", 1), "memory")
	p.spec.Memory(amounts...)
	return nil, nil
}

// weights is p.weights(when, outstanding = None).
func (p *pipeline) weights(c *call) (starlark.Value, error) {
	var when string
	var outstanding starlark.Value
	if err := c.unpack("when", &when, "outstanding??", &outstanding); err != nil {
		return nil, err
	}
	var counts []int
	if outstanding != nil {
		var err error
		if counts, err = wholes(c.thread, outstanding, len(p.spec.Config().Devices)); err != nil {
			return nil, of(err, "outstanding", 2)
		}
	}
	p.note(c.site.argument("when", 1), "weights")
	p.spec.Weights(when, counts...)
	return nil, nil
}

// patience is p.patience(eighths, kind = "").
func (p *pipeline) patience(c *call) (starlark.Value, error) {
	var eighths int
	var kind string
	if err := c.unpack("eighths", &eighths, "kind?", &kind); err != nil {
		return nil, err
	}
	p.note(c.site.argument("eighths", 1), "patience")
	p.spec.Patience(kind, eighths)
	return nil, nil
}

// schedule is p.schedule(name).
func (p *pipeline) schedule(c *call) (starlark.Value, error) {
	var name string
	if err := c.unpack("name", &name); err != nil {
		return nil, err
	}
	if known := p.run.Schedules; known != nil && !slices.Contains(known, name) {
		return nil, &fault{arg: "name", index: 1, problem: fmt.Sprintf("there is no schedule %q", name), remedy: suggest(name, known) + "the schedules are " + list(known, "and")}
	}
	p.note(c.site.argument("name", 1), "schedule")
	p.spec.Schedule(name)
	return nil, nil
}

// operation is p.operation(name, **keys): the keys of an entry of operations in a
// configuration. duration, takes and gives may be functions of the stage.
func (p *pipeline) operation(c *call) (starlark.Value, error) {
	var name string
	if err := unpack(c.builtin, c.args, nil, parameters{"name", &name}); err != nil {
		return nil, err
	}
	entry := map[string]any{"name": name}
	stages, err := p.beside(c)
	if err != nil {
		return nil, err
	}
	for _, pair := range c.kwargs {
		key, _ := starlark.AsString(pair[0])
		if entry[key], err = perStage(c.thread, pair[1], stages); err != nil {
			return nil, of(err, key, 0)
		}
	}
	if letter, ok := entry["letter"].(string); ok {
		p.letters[name] = letter
	}
	p.note(c.site, fmt.Sprintf("operations+%d", p.operations))
	p.operations++
	p.spec.Operation(entry)
	return nil, nil
}

// beside returns the stages beside which an operation runs, as far as they are well
// written: the configuration refuses them else.
func (p *pipeline) beside(c *call) ([]int, error) {
	for _, pair := range c.kwargs {
		if key, _ := starlark.AsString(pair[0]); key != "stages" {
			continue
		}
		if text, ok := starlark.AsString(pair[1]); ok && text == "all" {
			return stageNumbers(p.spec.Config().Stages), nil
		}
		stages, err := wholes(c.thread, pair[1], p.spec.Config().Stages)
		return stages, of(err, "stages", 0)
	}
	return nil, nil
}

// perStage returns a value, or what a function returns for each of the stages.
func perStage(thread *starlark.Thread, v starlark.Value, stages []int) (any, error) {
	f, ok := v.(starlark.Callable)
	if !ok {
		return plainValue(v)
	}
	values := make([]any, len(stages))
	for i, stage := range stages {
		x, err := starlark.Call(thread, f, starlark.Tuple{starlark.MakeInt(stage)}, nil)
		if err != nil {
			return nil, err
		}
		if values[i], err = plainValue(x); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// stageNumbers returns 0 to n-1.
func stageNumbers(n int) []int {
	list := make([]int, n)
	for s := range list {
		list[s] = s
	}
	return list
}

// letterOf returns the letter of a kind that is given by letter or name; that of an
// operation of one's own without a letter is its name in capitals, without digits.
func (p *pipeline) letterOf(kind string) string {
	for _, k := range model.StandardKinds() {
		if k.Name == kind {
			return k.Letter
		}
	}
	if letter, known := p.letters[kind]; known {
		return letter
	}
	for i := range p.spec.Config().Operations {
		if o := &p.spec.Config().Operations[i]; o.Name == kind {
			return o.Letter
		}
	}
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, kind))
}
