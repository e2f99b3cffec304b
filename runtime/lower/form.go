package lower

import (
	"fmt"
	"slices"
)

// FormError reports programs that do not fit each other or the plan, so that no order of
// execution could make them right.
type FormError struct {
	Device int // where, -1 if at no single device
	Step   int // the index in its program; -1 if it is no single instruction
	Reason string
	name   string // of the device
}

func (e *FormError) Error() string {
	switch {
	case e.Device < 0:
		return e.Reason
	case e.Step < 0:
		return e.name + ": " + e.Reason
	}
	return fmt.Sprintf("%s at step %d: %s", e.name, e.Step, e.Reason)
}

func (g *Program) formError(d, step int, format string, args ...any) error {
	return &FormError{d, step, fmt.Sprintf(format, args...), g.Problem.DeviceName(d)}
}

// checkForm tests that each device computes the order of the plan, and that each message
// is sent once, by its sender, and received once, by its receiver. Cost O(instructions).
func (g *Program) checkForm() error {
	if have, want := len(g.Devices), g.Problem.NumDevices(); have != want || len(g.Plan.Order) != want {
		return &FormError{Device: -1, Step: -1, Reason: fmt.Sprintf("there are programs for %d devices and orders for %d, the problem has %d", have, len(g.Plan.Order), want)}
	}
	sent, received := make([]bool, len(g.Messages)), make([]bool, len(g.Messages))
	for d := range g.Devices {
		if err := g.checkDevice(d, sent, received); err != nil {
			return err
		}
	}
	for m := range g.Messages {
		switch from, to := int(g.Messages[m].From), int(g.Messages[m].To); {
		case from < 0 || to < 0 || from >= len(g.Devices) || to >= len(g.Devices) || from == to:
			return &FormError{Device: -1, Step: -1, Reason: fmt.Sprintf("message %d goes from device %d to device %d", m, from, to)}
		case !sent[m]:
			return g.formError(from, -1, "it does not send %s", g.messageText(int32(m)))
		case !received[m]:
			return g.formError(to, -1, "it does not receive %s", g.messageText(int32(m)))
		}
	}
	return nil
}

func (g *Program) checkDevice(d int, sent, received []bool) error {
	computed, order := 0, g.Plan.Order[d]
	for step, in := range g.Devices[d] {
		if in.Op < 0 || int(in.Op) >= g.Problem.NumOps() {
			return g.formError(d, step, "there is no operation %d", in.Op)
		}
		var err error
		switch in.Code {
		case Compute:
			if computed >= len(order) || order[computed] != in.Op {
				return g.formError(d, step, "it computes %s, which is not what its order in the plan has next", g.Problem.Name(in.Op))
			}
			if !slices.Contains(g.Problem.Row(in.Op).Devices, int32(d)) {
				return g.formError(d, step, "it computes %s, which does not run there", g.Problem.Name(in.Op))
			}
			computed++
		case Send:
			err = g.checkEnd(d, step, "sends", sent)
		case Receive:
			err = g.checkEnd(d, step, "receives", received)
		case Take, Give:
			if in.Bytes <= 0 {
				return g.formError(d, step, "it takes or gives %d", in.Bytes)
			}
		default:
			return g.formError(d, step, "there is no instruction of code %d", in.Code)
		}
		if err != nil {
			return err
		}
	}
	if computed < len(order) {
		return g.formError(d, -1, "it does not compute %s, which its order in the plan has next", g.Problem.Name(order[computed]))
	}
	return nil
}

// checkEnd tests one end of a message and marks it as seen.
func (g *Program) checkEnd(d, step int, verb string, seen []bool) error {
	m := g.Devices[d][step].Message
	if m < 0 || int(m) >= len(g.Messages) {
		return g.formError(d, step, "there is no message %d", m)
	}
	device := g.Messages[m].From
	if verb == "receives" {
		device = g.Messages[m].To
	}
	switch {
	case int(device) != d:
		return g.formError(d, step, "it %s %s, which is not its own", verb, g.messageText(m))
	case seen[m]:
		return g.formError(d, step, "it %s %s a second time", verb, g.messageText(m))
	}
	seen[m] = true
	return nil
}
