package lower

import (
	"bufio"
	"fmt"
	"io"
)

// Write prints the programs, one instruction a line, numbered as in reports. Errors are
// those of w. Cost O(instructions).
func (g *Program) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	for d, program := range g.Devices {
		fmt.Fprintln(b, g.Problem.DeviceName(d))
		for step := range program {
			fmt.Fprintf(b, "%4d  %s\n", step, g.instrText(&program[step]))
		}
	}
	return b.Flush()
}

// instrText says what an instruction does.
func (g *Program) instrText(in *Instr) string {
	p := g.Problem
	switch in.Code {
	case Compute:
		return p.Name(in.Op)
	case Take:
		return fmt.Sprintf("take %s for %s", p.FormatMemory(in.Bytes), p.Name(in.Op))
	case Give:
		return fmt.Sprintf("give %s of %s", p.FormatMemory(in.Bytes), p.Name(in.Op))
	case Send:
		m := &g.Messages[in.Message]
		return fmt.Sprintf("send %s of %s to %s for %s", m.Carries, p.Name(m.Producer), p.DeviceName(int(m.To)), p.Name(m.Consumer))
	default:
		m := &g.Messages[in.Message]
		return fmt.Sprintf("receive %s of %s from %s for %s", m.Carries, p.Name(m.Producer), p.DeviceName(int(m.From)), p.Name(m.Consumer))
	}
}

// messageText names a message.
func (g *Program) messageText(number int32) string {
	m := &g.Messages[number]
	p := g.Problem
	return fmt.Sprintf("the %s of %s for %s from device %d to device %d", m.Carries, p.Name(m.Producer), p.Name(m.Consumer), m.From, m.To)
}

// String returns "end", "output" or "gradient".
func (c Carries) String() string {
	switch c {
	case Nothing:
		return "end"
	case Output:
		return "output"
	case Gradient:
		return "gradient"
	}
	return fmt.Sprintf("cargo %d", c)
}

// String returns the name of the code in lower case.
func (c Code) String() string {
	names := [...]string{"receive", "take", "compute", "give", "send"}
	if int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("code %d", c)
}
