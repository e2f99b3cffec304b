package lower_test

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// verdict is how programs end.
type verdict string

const (
	runs     verdict = "runs"
	blocks   verdict = "blocks"
	mismatch verdict = "mismatch"
	broken   verdict = "broken" // a message has no Send or no Receive, or two
)

// execute is a second, slow simulator: it looks at all devices again and again, and does
// one instruction of the first one that can. done sees each instruction once, those of a
// gang on its first device.
func execute(g *lower.Program, c lower.Channels, done func(d int, in lower.Instr)) verdict {
	if !matched(g) {
		return broken
	}
	at := make([]int, len(g.Devices))
	mail := map[string][]int32{}
	head := func(d int) (lower.Instr, bool) {
		if at[d] == len(g.Devices[d]) {
			return lower.Instr{}, false
		}
		return g.Devices[d][at[d]], true
	}
	stands := func(d int32, code lower.Code, want lower.Instr) bool {
		in, ok := head(int(d))
		return ok && in.Code == code && (code == lower.Compute && in.Op == want.Op || code != lower.Compute && in.Message == want.Message)
	}
	box := func(message int32) string {
		m := g.Messages[message]
		if c == lower.Buffered {
			return fmt.Sprint(message)
		}
		return fmt.Sprint(m.From, ">", m.To)
	}
	step := func(d int) (moved bool, end verdict) {
		in, ok := head(d)
		if !ok {
			return false, ""
		}
		switch in.Code {
		case lower.Compute:
			devices := g.Problem.Row(in.Op).Devices
			if slices.ContainsFunc(devices, func(o int32) bool { return !stands(o, lower.Compute, in) }) {
				return false, ""
			}
			for _, o := range devices {
				if int(o) != d {
					at[o]++
				}
			}
		case lower.Send:
			if c == lower.Rendezvous {
				to := g.Messages[in.Message].To
				if !stands(to, lower.Receive, in) {
					return false, ""
				}
				done(d, in)
				done(int(to), g.Devices[to][at[to]])
				at[d]++
				at[to]++
				return true, ""
			}
			mail[box(in.Message)] = append(mail[box(in.Message)], in.Message)
		case lower.Receive:
			got := mail[box(in.Message)]
			if len(got) == 0 {
				return false, ""
			}
			if got[0] != in.Message {
				return false, mismatch
			}
			mail[box(in.Message)] = got[1:]
		}
		done(d, in)
		at[d]++
		return true, ""
	}
	for {
		moved, ended := false, true
		for d := range g.Devices {
			ok, end := step(d)
			if end != "" {
				return end
			}
			moved = moved || ok
			ended = ended && at[d] == len(g.Devices[d])
		}
		if !moved && ended {
			return runs
		}
		if !moved {
			return blocks
		}
	}
}

// matched reports whether each message is sent once behind its producer and received once
// before its consumer, where it should be.
func matched(g *lower.Program) bool {
	count := map[string]int{}
	for d, program := range g.Devices {
		computes := func(op model.OpID) int {
			return slices.IndexFunc(program, func(in lower.Instr) bool { return in.Code == lower.Compute && in.Op == op })
		}
		for step, in := range program {
			switch m := in.Message; in.Code {
			case lower.Send:
				if at := computes(g.Messages[m].Producer); at < 0 || at > step {
					return false
				}
				count[fmt.Sprint(in.Code, m, d)]++
			case lower.Receive:
				if computes(g.Messages[m].Consumer) < step {
					return false
				}
				count[fmt.Sprint(in.Code, m, d)]++
			}
		}
	}
	for m := range g.Messages {
		if count[fmt.Sprint(lower.Send, m, g.Messages[m].From)] != 1 || count[fmt.Sprint(lower.Receive, m, g.Messages[m].To)] != 1 {
			return false
		}
	}
	return len(count) == 2*len(g.Messages)
}
