package dsl

import (
	"fmt"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// operation is an operation by name, as F(stage, micro_batch) makes it.
type operation struct {
	kind              string // letter or name
	stage, microBatch int    // -1: it has none
}

func (o operation) text(letter string) string {
	var b strings.Builder
	if o.stage >= 0 {
		b.WriteString(strconv.Itoa(o.stage))
	}
	b.WriteString(letter)
	if o.microBatch >= 0 {
		b.WriteString(strconv.Itoa(o.microBatch))
	}
	return b.String()
}

func (o operation) String() string       { return o.text(o.kind) }
func (o operation) Type() string         { return "operation" }
func (o operation) Freeze()              {}
func (o operation) Truth() starlark.Bool { return starlark.True }
func (o operation) Hash() (uint32, error) {
	return starlark.String(o.String()).Hash()
}

// letterOp is F(stage, micro_batch), and I, W and B.
func letterOp(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	o := operation{kind: b.Name()}
	if err := unpack(b, args, kwargs, parameters{"stage", &o.stage, "micro_batch", &o.microBatch}); err != nil {
		return nil, err
	}
	return o, o.check()
}

// op is op(kind, stage = None, micro_batch = None): an operation of any kind.
func (r *run) op(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	o := operation{stage: -1, microBatch: -1}
	if err := unpack(b, args, kwargs, parameters{"kind", &o.kind, "stage??", &o.stage, "micro_batch??", &o.microBatch}); err != nil {
		return nil, err
	}
	return o, o.check()
}

// check refuses negative numbers; -1 is what is left out.
func (o operation) check() error {
	if o.stage < -1 || o.microBatch < -1 {
		return &fault{problem: fmt.Sprintf("stage %d and micro-batch %d: both count from 0", o.stage, o.microBatch), remedy: "write a number from 0 up"}
	}
	return nil
}

// order is p.order(device, operations): it appends to the order of a device. The
// operations are a list of texts and operations, or a text with spaces between them.
func (p *pipeline) order(c *call) (starlark.Value, error) {
	var device int
	var operations starlark.Value
	if err := c.unpack("device", &device, "operations", &operations); err != nil {
		return nil, err
	}
	if device < 0 {
		return nil, p.known("device", device, len(p.spec.Config().Devices))
	}
	names, err := p.names(operations)
	if err != nil {
		return nil, of(err, "operations", 2)
	}
	from := 0
	if parts := p.orders[device]; len(parts) > 0 {
		from = parts[len(parts)-1].end
	}
	p.orders[device] = append(p.orders[device], ordered{from + len(names), c.site})
	p.note(c.site, "order")
	p.spec.Order(device, names...)
	return nil, nil
}

// names returns the text forms of operations.
func (p *pipeline) names(operations starlark.Value) ([]string, error) {
	if text, ok := starlark.AsString(operations); ok {
		return strings.Fields(text), nil
	}
	entries, ok := operations.(starlark.Iterable)
	if !ok {
		return nil, &fault{problem: short(operations) + " is no list of operations", remedy: `write [F(0, 0), B(0, 0)], ["0F0", "0B0"] or "0F0 0B0"`}
	}
	var names []string
	for x := range starlark.Elements(entries) {
		switch x := x.(type) {
		case starlark.String:
			names = append(names, string(x))
		case operation:
			names = append(names, x.text(p.letterOf(x.kind)))
		default:
			return nil, &fault{problem: fmt.Sprintf("%s, entry %d of the order, is no operation", short(x), len(names)), remedy: `write F(0, 3) or "0F3"`}
		}
	}
	return names, nil
}
