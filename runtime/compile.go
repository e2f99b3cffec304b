package runtime

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// newRun checks a program and lays out what its run needs.
func newRun(program *lower.Program, devices []Device, locked bool) (*run, error) {
	b := builder{program: program, run: &run{program: program, locked: locked}}
	if err := b.check(devices); err != nil {
		return nil, err
	}
	b.run.slots = make([]slot, len(program.Messages))
	b.run.actors = make([]actor, len(devices))
	for d := range devices {
		a := &b.run.actors[d]
		a.index, a.device, a.wake = d, devices[d], make(chan struct{}, 1)
		a.code = make([]instr, len(program.Devices[d]))
		if err := b.compile(a); err != nil {
			return nil, err
		}
	}
	b.gangs()
	return b.run, nil
}

// builder compiles the programs of all devices.
type builder struct {
	program *lower.Program
	run     *run
	members [][]int32 // by operation: the devices whose programs compute it, ascending
}

func (b *builder) check(devices []Device) error {
	p := b.program.Problem
	if n := p.NumDevices(); len(b.program.Devices) != n || len(devices) != n {
		return &ProgramError{-1, -1, fmt.Sprintf("there are programs for %d devices and %d devices to run them, the problem has %d",
			len(b.program.Devices), len(devices), n)}
	}
	for i, m := range b.program.Messages {
		for _, op := range []model.OpID{m.Producer, m.Consumer} {
			if op < 0 || int(op) >= p.NumOps() {
				return &ProgramError{-1, -1, fmt.Sprintf("message %d names operation %d, which does not exist", i, op)}
			}
		}
		for _, d := range []int32{m.From, m.To} {
			if d < 0 || int(d) >= len(devices) {
				return &ProgramError{-1, -1, fmt.Sprintf("message %d names device %d, which does not exist", i, d)}
			}
		}
		if m.From == m.To {
			return &ProgramError{-1, -1, fmt.Sprintf("message %d goes from device %d to itself", i, m.From)}
		}
	}
	for d := range devices {
		if devices[d] == nil {
			return &ProgramError{-1, -1, fmt.Sprintf("there is no device %d to run its program", d)}
		}
	}
	b.members = make([][]int32, p.NumOps())
	return nil
}

// compile copies the program of a device and tests its instructions.
func (b *builder) compile(a *actor) error {
	for step, in := range b.program.Devices[a.index] {
		if reason := b.reason(int32(a.index), in); reason != "" {
			return &ProgramError{a.index, step, reason}
		}
		p := b.program.Problem
		a.code[step] = instr{in, -1, p.Kinds[p.Row(in.Op).Kind].Busy}
	}
	return nil
}

// reason says why an instruction cannot stand in the program of device d, "" if it can.
func (b *builder) reason(d int32, in lower.Instr) string {
	if in.Op < 0 || int(in.Op) >= b.program.Problem.NumOps() {
		return fmt.Sprintf("operation %d does not exist", in.Op)
	}
	switch in.Code {
	case lower.Receive, lower.Send:
		return b.messageReason(d, in)
	case lower.Take, lower.Give:
		if in.Bytes < 0 {
			return fmt.Sprintf("%d bytes of memory: a Take or Give of less than nothing", in.Bytes)
		}
	case lower.Compute:
		members := b.members[in.Op]
		if n := len(members); n > 0 && members[n-1] == d {
			return b.program.Problem.Name(in.Op) + " is computed twice"
		}
		b.members[in.Op] = append(members, d)
	default:
		return fmt.Sprintf("code %d does not exist", in.Code)
	}
	return ""
}

func (b *builder) messageReason(d int32, in lower.Instr) string {
	if in.Message < 0 || int(in.Message) >= len(b.program.Messages) {
		return fmt.Sprintf("message %d does not exist", in.Message)
	}
	m := &b.program.Messages[in.Message]
	if in.Code == lower.Receive && m.To != d {
		return fmt.Sprintf("receives message %d, which goes to device %d", in.Message, m.To)
	}
	if in.Code == lower.Send && m.From != d {
		return fmt.Sprintf("sends message %d, which comes from device %d", in.Message, m.From)
	}
	return ""
}

// gangs numbers the operations that several devices compute.
func (b *builder) gangs() {
	number := make([]int32, len(b.members))
	for op, members := range b.members {
		number[op] = -1
		if len(members) > 1 {
			number[op] = int32(len(b.run.gangs))
			b.run.gangs = append(b.run.gangs, gang{op: model.OpID(op), members: members})
		}
	}
	for d := range b.run.actors {
		code := b.run.actors[d].code
		for i := range code {
			if code[i].Code == lower.Compute {
				code[i].gang = number[code[i].Op]
			}
		}
	}
}
