package cssr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// OrderError reports an order that is no plan of its problem.
type OrderError struct {
	Device   int // in whose order; -1: in that of no single device
	Position int // from 0; -1: at no single place
	Problem  string
	Remedy   string
	Cause    error // of package model or constraints, or nil
}

func (e *OrderError) Error() string {
	text := e.Problem
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// Unwrap returns the cause.
func (e *OrderError) Unwrap() error { return e.Cause }

// ordered returns the orders of the request as a plan that keeps every rule.
func (r *Request) ordered(p *model.Problem) (*model.Plan, error) {
	o := &orderReader{p: p, namer: model.NewNamer(p), seen: model.NewOpSet(p), plan: &model.Plan{Order: make([][]model.OpID, p.NumDevices())}}
	for d := p.NumDevices(); d < len(r.Order); d++ {
		if len(r.Order[d]) > 0 {
			return nil, &OrderError{Device: d, Position: -1, Problem: fmt.Sprintf("there is no device %d", d), Remedy: fmt.Sprintf("the devices are 0 to %d", p.NumDevices()-1)}
		}
	}
	for d := range p.NumDevices() {
		if d >= len(r.Order) || len(r.Order[d]) == 0 && len(p.RowsOn[d]) > 0 {
			return nil, &OrderError{Device: -1, Position: -1, Problem: p.DeviceName(d) + " has no order", Remedy: "give one for every device"}
		}
		if err := o.read(d, r.Order[d]); err != nil {
			return nil, err
		}
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	return o.plan, o.judge()
}

// orderReader turns names into a plan.
type orderReader struct {
	p     *model.Problem
	namer *model.Namer
	seen  model.OpSet // for an operation of several devices: on the first of them
	plan  *model.Plan
}

// read reads the order of a device.
func (o *orderReader) read(d int, names []string) error {
	own := map[model.OpID]int{}
	for i, name := range names {
		refuse := func(problem, remedy string) error {
			return &OrderError{Device: d, Position: i, Problem: problem, Remedy: remedy}
		}
		op, err := o.namer.Parse(name)
		var wrong *model.NameError
		if errors.As(err, &wrong) {
			return &OrderError{d, i, fmt.Sprintf("%q is no operation: %s", wrong.Text, wrong.Reason), "", err}
		}
		on := o.p.Row(op).Devices
		if !slices.Contains(on, int32(d)) {
			return refuse(fmt.Sprintf("%s runs on %s, not on device %d", name, devicesNamed(on), d), fmt.Sprintf("move it there, or place stage %d elsewhere", o.p.Row(op).Stage))
		}
		if first, twice := own[op]; twice {
			return refuse(fmt.Sprintf("%s stands in the order of device %d twice, at positions %d and %d", name, d, first, i), "write it once")
		}
		own[op] = i
		o.seen.Add(op)
		o.plan.Order[d] = append(o.plan.Order[d], op)
	}
	return nil
}

// devicesNamed writes "device 3", or "devices 3, 4".
func devicesNamed(devices []int32) string {
	if len(devices) == 1 {
		return fmt.Sprintf("device %d", devices[0])
	}
	words := make([]string, len(devices))
	for i, d := range devices {
		words[i] = fmt.Sprint(d)
	}
	return "devices " + strings.Join(words, ", ")
}

// complete tests that no operation is missing, as far as there is no choice.
func (o *orderReader) complete() error {
	for r := range o.p.Rows {
		row := &o.p.Rows[r]
		if row.Choice != model.Always {
			continue
		}
		for i := range o.p.Count(r) {
			op := o.p.Base(r) + model.OpID(i)
			if !o.seen.Has(op) {
				d := int(row.Devices[0])
				return &OrderError{Device: d, Position: -1, Problem: fmt.Sprintf("%s is missing in the order of device %d", o.p.Name(op), d), Remedy: "add it"}
			}
		}
	}
	return nil
}

// judge tests that the plan can run and keeps every rule.
func (o *orderReader) judge() error {
	tl, err := model.Evaluate(o.p, o.plan)
	var circle *model.CycleError
	switch {
	case errors.As(err, &circle):
		d, position := o.find(circle.Ops[0])
		return &OrderError{d, position, circle.Error(), "move one of them", err}
	case err != nil:
		return &OrderError{Device: -1, Position: -1, Problem: err.Error(), Cause: err}
	}
	report := constraints.Check(o.p, o.plan, tl)
	if report.OK() {
		return nil
	}
	v := &report.Violations[0]
	fault := &OrderError{Device: v.Device, Position: -1, Problem: v.Message, Cause: report.Err()}
	if len(v.Ops) > 0 {
		fault.Device, fault.Position = o.find(o.p.Name(v.Ops[0]))
	}
	return fault
}

// find returns where an operation stands first, -1 and -1 if it does not.
func (o *orderReader) find(name string) (device, position int) {
	op, err := o.namer.Parse(name)
	if err != nil {
		return -1, -1
	}
	for d, order := range o.plan.Order {
		if i := slices.Index(order, op); i >= 0 {
			return d, i
		}
	}
	return -1, -1
}
