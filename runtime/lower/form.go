package lower

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model"
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

// former tests the form of programs.
type former struct {
	*Program
	sent, received []bool  // by message
	computed       []int32 // by operation: 1 + the last device that was seen to compute it
}

// checkForm tests that each device computes the order of the plan, and that each message
// is sent once, by its sender, behind its producer, and received once, by its receiver,
// before its consumer. Cost O(instructions).
func (g *Program) checkForm() error {
	if have, want := len(g.Devices), g.Problem.NumDevices(); have != want || len(g.Plan.Order) != want {
		return &FormError{Device: -1, Step: -1, Reason: fmt.Sprintf("there are programs for %d devices and orders for %d, the problem has %d", have, len(g.Plan.Order), want)}
	}
	f := former{g, make([]bool, len(g.Messages)), make([]bool, len(g.Messages)), make([]int32, g.Problem.NumOps())}
	for d := range g.Devices {
		if err := f.checkDevice(d); err != nil {
			return err
		}
	}
	for m := range g.Messages {
		switch from, to := int(g.Messages[m].From), int(g.Messages[m].To); {
		case from < 0 || to < 0 || from >= len(g.Devices) || to >= len(g.Devices) || from == to:
			return &FormError{Device: -1, Step: -1, Reason: fmt.Sprintf("message %d goes from device %d to device %d", m, from, to)}
		case !f.sent[m]:
			return g.formError(from, -1, "it does not send %s", g.messageText(int32(m)))
		case !f.received[m]:
			return g.formError(to, -1, "it does not receive %s", g.messageText(int32(m)))
		}
	}
	return nil
}

func (f *former) checkDevice(d int) error {
	p, order, done := f.Problem, f.Plan.Order[d], 0
	for step, in := range f.Devices[d] {
		if in.Op < 0 || int(in.Op) >= p.NumOps() {
			return f.formError(d, step, "there is no operation %d", in.Op)
		}
		switch in.Code {
		case Compute:
			if done >= len(order) || order[done] != in.Op {
				return f.formError(d, step, "it computes %s, which is not what its order in the plan has next", p.Name(in.Op))
			}
			if !slices.Contains(p.Row(in.Op).Devices, int32(d)) {
				return f.formError(d, step, "it computes %s, which does not run there", p.Name(in.Op))
			}
			f.computed[in.Op] = int32(d) + 1
			done++
		case Send, Receive:
			if err := f.checkEnd(d, step); err != nil {
				return err
			}
		case Take, Give:
			if in.Bytes <= 0 {
				return f.formError(d, step, "it takes or gives %d", in.Bytes)
			}
		default:
			return f.formError(d, step, "there is no instruction of code %d", in.Code)
		}
	}
	if done < len(order) {
		return f.formError(d, -1, "it does not compute %s, which its order in the plan has next", p.Name(order[done]))
	}
	return nil
}

// checkEnd tests one end of a message and marks it as seen.
func (f *former) checkEnd(d, step int) error {
	in := &f.Devices[d][step]
	if in.Message < 0 || int(in.Message) >= len(f.Messages) {
		return f.formError(d, step, "there is no message %d", in.Message)
	}
	m := &f.Messages[in.Message]
	device, seen := m.From, f.sent
	if in.Code == Receive {
		device, seen = m.To, f.received
	}
	computed := func(op model.OpID) bool { return int(f.computed[op]) == d+1 }
	var fault string
	switch {
	case int(device) != d:
		fault = ", which is not its own"
	case seen[in.Message]:
		fault = " a second time"
	case in.Code == Send && !computed(m.Producer):
		fault = " before it computes " + f.Problem.Name(m.Producer)
	case in.Code == Receive && computed(m.Consumer):
		fault = " behind " + f.Problem.Name(m.Consumer)
	default:
		seen[in.Message] = true
		return nil
	}
	return f.formError(d, step, "it would %s %s%s", in.Code, f.messageText(in.Message), fault)
}
