package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// Deadlock reports devices that cannot go on: each waits for another one.
type Deadlock struct {
	Channels Channels
	Blocked  []Blocked // by ascending device
	// Cycle is a shortest circle of waiting devices: indices into Blocked, each waits for
	// the next, the last for the first. It is empty if they wait for a device that has ended.
	Cycle []int

	g *Program
}

// Blocked is a device that cannot go on.
type Blocked struct {
	Device int
	Step   int        // the index of Instr in its program
	Instr  Instr      // what it cannot do
	Next   model.OpID // the operation that it would compute next, -1 if there is none
	On     int        // a device that it waits for: in a cycle, the next one of the cycle
	OnStep int        // where that one is; the length of its program if it has ended
}

// Mismatch reports a receiver that would get another message than it expects: they leave in
// another order than they are received in.
type Mismatch struct {
	Device          int
	Step            int   // of the Receive, in the program of Device
	Expected, Found int32 // messages

	g *Program
}

func (e *Mismatch) Error() string {
	return fmt.Sprintf("channels, in order: %s at step %d would receive %s but find %s, which left before it",
		e.g.Problem.DeviceName(e.Device), e.Step, e.g.messageText(e.Expected), e.g.messageText(e.Found))
}

// mostBlocked is how many waiting devices the text of a Deadlock describes.
const mostBlocked = 8

// Error says of each device of the cycle where it is and what it waits for.
func (e *Deadlock) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "channels, %s: ", e.Channels)
	shown := e.Cycle
	if len(shown) == 0 {
		for i := range e.Blocked {
			shown = append(shown, i)
		}
	}
	for i, at := range shown[:min(len(shown), mostBlocked)] {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(e.g.blockedText(&e.Blocked[at]))
	}
	if more := len(e.Blocked) - min(len(shown), mostBlocked); more > 0 {
		fmt.Fprintf(&b, "; %s besides", waiting(more))
	}
	if len(e.Cycle) > 0 {
		b.WriteString("; cycle: ")
		for _, at := range e.Cycle[:min(len(e.Cycle), mostBlocked)] {
			fmt.Fprintf(&b, "%s -> ", e.g.Problem.DeviceName(e.Blocked[at].Device))
		}
		if more := len(e.Cycle) - mostBlocked; more > 0 {
			fmt.Fprintf(&b, "%d more -> ", more)
		}
		b.WriteString(e.g.Problem.DeviceName(e.Blocked[e.Cycle[0]].Device))
	}
	return b.String()
}

func waiting(devices int) string {
	if devices == 1 {
		return "1 device waits"
	}
	return fmt.Sprintf("%d devices wait", devices)
}

// blockedText writes who waits where for whom, such as "device 1 at step 3, before 1B0,
// waits for 2B0 of device 2, which is at step 2, before 2F1".
func (g *Program) blockedText(w *Blocked) string {
	p := g.Problem
	text := fmt.Sprintf("%s %s, waits for ", p.DeviceName(w.Device), g.place(w.Device, w.Step))
	on := p.DeviceName(w.On) + ", which has ended"
	if w.OnStep < len(g.Devices[w.On]) {
		on = p.DeviceName(w.On) + ", which is " + g.place(w.On, w.OnStep)
	}
	switch w.Instr.Code {
	case Receive:
		return text + p.Name(g.Messages[w.Instr.Message].Producer) + " of " + on
	case Send:
		m := &g.Messages[w.Instr.Message]
		return fmt.Sprintf("%s%s, to receive the %s of %s", text, on, m.Carries, p.Name(m.Producer))
	default:
		return text + on + ", to come to " + p.Name(w.Instr.Op)
	}
}

// place says where a device stands that has not ended.
func (g *Program) place(d, step int) string {
	if next := g.nextOp(d, step); next >= 0 {
		return fmt.Sprintf("at step %d, before %s", step, g.Problem.Name(next))
	}
	return fmt.Sprintf("at step %d, behind its operations", step)
}

// nextOp returns the first operation that a device computes from a step on, -1 if there is none.
func (g *Program) nextOp(d, step int) model.OpID {
	for _, in := range g.Devices[d][step:] {
		if in.Code == Compute {
			return in.Op
		}
	}
	return -1
}

// deadlock describes where the devices stand.
func (s *simulator) deadlock() *Deadlock {
	e := &Deadlock{Channels: s.channels, g: s.g}
	index := make([]int, len(s.g.Devices)) // by device: in Blocked, -1 if it has ended
	for d := range s.g.Devices {
		index[d] = -1
		if s.ended(int32(d)) {
			continue
		}
		index[d] = len(e.Blocked)
		step := int(s.step[d])
		on := int(s.awaited(d)[0])
		e.Blocked = append(e.Blocked, Blocked{
			Device: d, Step: step, Instr: s.g.Devices[d][step], Next: s.g.nextOp(d, step),
			On: on, OnStep: int(s.step[on]),
		})
	}
	waits := make([][]int, len(e.Blocked))
	for i := range e.Blocked {
		for _, d := range s.awaited(e.Blocked[i].Device) {
			if at := index[d]; at >= 0 {
				waits[i] = append(waits[i], at)
			}
		}
	}
	e.Cycle = shortestCycle(waits)
	for i, at := range e.Cycle {
		on := e.Blocked[e.Cycle[(i+1)%len(e.Cycle)]].Device
		e.Blocked[at].On, e.Blocked[at].OnStep = on, int(s.step[on])
	}
	return e
}

// awaited lists the devices that a waiting device waits for, ascending.
func (s *simulator) awaited(d int) []int32 {
	switch in := &s.g.Devices[d][s.step[d]]; in.Code {
	case Receive:
		return []int32{s.g.Messages[in.Message].From}
	case Send:
		return []int32{s.g.Messages[in.Message].To}
	default:
		return slices.DeleteFunc(slices.Clone(s.g.Problem.Row(in.Op).Devices), func(other int32) bool {
			if s.ended(other) {
				return false
			}
			at := &s.g.Devices[other][s.step[other]]
			return at.Code == Compute && at.Op == in.Op
		})
	}
}

// shortestCycle returns a shortest cycle of a graph, the first one by its lowest node; nil
// if there is none. Cost O(nodes · edges).
func shortestCycle(next [][]int) []int {
	var best []int
	parent := make([]int, len(next))
	for root := range next {
		if len(best) == 2 {
			break // nobody waits for itself
		}
		for i := range parent {
			parent[i] = -1
		}
		if cycle := cycleFrom(next, root, parent); cycle != nil && (best == nil || len(cycle) < len(best)) {
			best = cycle
		}
	}
	return best
}

// cycleFrom returns a shortest cycle through root, nil if there is none. It goes breadth
// first; parent is space, -1 for every node.
func cycleFrom(next [][]int, root int, parent []int) []int {
	queue := []int{root}
	for head := 0; head < len(queue); head++ {
		at := queue[head]
		for _, to := range next[at] {
			if to == root {
				cycle := []int{at}
				for at != root {
					at = parent[at]
					cycle = append(cycle, at)
				}
				slices.Reverse(cycle)
				return cycle
			}
			if parent[to] < 0 {
				parent[to] = at
				queue = append(queue, to)
			}
		}
	}
	return nil
}
