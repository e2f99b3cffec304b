package lower

import (
	"errors"

	"github.com/flexpipe/flexpipe/model"
)

// Check tests the form of the programs and simulates them under all models. That they fail
// under one that is [Channels.Required] is an error; under another one it is a warning.
// Cost O(instructions).
func (g *Program) Check() (warnings []error, err error) {
	if err := g.checkForm(); err != nil {
		return nil, err
	}
	for _, c := range AllChannels() {
		switch fault := newSimulator(g, c).run(); {
		case fault == nil:
		case c.Required():
			err = errors.Join(err, fault)
		default:
			warnings = append(warnings, fault)
		}
	}
	return warnings, err
}

// Simulate runs the programs without time under a model of channels: each device goes on
// as far as it can, until all have ended or none can move. Which device goes first makes no
// difference to where they end.
//
// Cost O(instructions). Errors: *[FormError], *[Deadlock], and *[Mismatch] under InOrder.
func (g *Program) Simulate(c Channels) error {
	if err := g.checkForm(); err != nil {
		return err
	}
	return newSimulator(g, c).run()
}

// simulator executes programs whose form has been checked.
type simulator struct {
	g        *Program
	channels Channels
	step     []int32 // by device: the index of its next instruction
	runnable []int32 // a stack of devices that may be able to go on

	sent     []bool               // by message; Buffered
	queues   queues               // InOrder
	arrived  map[model.OpID]int32 // by operation of several devices: how many stand at it
	standing []bool               // by device: it is counted in arrived
}

func newSimulator(g *Program, c Channels) *simulator {
	n := len(g.Devices)
	s := &simulator{g: g, channels: c, step: make([]int32, n), arrived: map[model.OpID]int32{}, standing: make([]bool, n)}
	switch c {
	case Buffered:
		s.sent = make([]bool, len(g.Messages))
	case InOrder:
		s.queues = newQueues(g.Messages)
	}
	for d := n - 1; d >= 0; d-- {
		s.runnable = append(s.runnable, int32(d))
	}
	return s
}

func (s *simulator) run() error {
	for len(s.runnable) > 0 {
		d := s.runnable[len(s.runnable)-1]
		s.runnable = s.runnable[:len(s.runnable)-1]
		if err := s.advance(d); err != nil {
			return err
		}
	}
	for d := range s.g.Devices {
		if !s.ended(int32(d)) {
			return s.deadlock()
		}
	}
	return nil
}

func (s *simulator) ended(d int32) bool { return int(s.step[d]) == len(s.g.Devices[d]) }

// advance runs instructions of a device until one waits.
func (s *simulator) advance(d int32) error {
	for !s.ended(d) {
		moved := true
		switch in := &s.g.Devices[d][s.step[d]]; in.Code {
		case Compute:
			moved = s.compute(d, in.Op)
		case Send:
			moved = s.send(d, in.Message)
		case Receive:
			var err error
			if moved, err = s.receive(d, in.Message); err != nil {
				return err
			}
		}
		if !moved {
			return nil
		}
		s.step[d]++
	}
	return nil
}

// compute reports whether all devices of an operation have come to it. The last one moves
// the others on.
func (s *simulator) compute(d int32, op model.OpID) bool {
	devices := s.g.Problem.Row(op).Devices
	if len(devices) == 1 {
		return true
	}
	if !s.standing[d] {
		s.standing[d] = true
		s.arrived[op]++
	}
	if int(s.arrived[op]) < len(devices) {
		return false
	}
	delete(s.arrived, op)
	for _, other := range devices {
		s.standing[other] = false
		if other != d {
			s.step[other]++
			s.runnable = append(s.runnable, other)
		}
	}
	return true
}

// send hands a message over, and wakes a receiver that waits for it.
func (s *simulator) send(d, message int32) bool {
	m := &s.g.Messages[message]
	if s.channels == Rendezvous {
		return s.meet(m.To, Receive, message)
	}
	if s.channels == Buffered {
		s.sent[message] = true
	} else {
		s.queues.push(message)
	}
	if !s.ended(m.To) {
		if in := &s.g.Devices[m.To][s.step[m.To]]; in.Code == Receive && s.g.Messages[in.Message].From == d {
			s.runnable = append(s.runnable, m.To)
		}
	}
	return true
}

// receive reports whether a message is there.
func (s *simulator) receive(d, message int32) (bool, error) {
	m := &s.g.Messages[message]
	switch s.channels {
	case Rendezvous:
		return s.meet(m.From, Send, message), nil
	case Buffered:
		return s.sent[message], nil
	}
	head := s.queues.head(message)
	if head >= 0 && head != message {
		return false, &Mismatch{Device: int(d), Step: int(s.step[d]), Expected: message, Found: head, g: s.g}
	}
	if head < 0 {
		return false, nil
	}
	s.queues.pop(message)
	return true, nil
}

// meet reports whether the other device stands at its end of a message, and moves it on.
func (s *simulator) meet(other int32, code Code, message int32) bool {
	if s.ended(other) {
		return false
	}
	if in := &s.g.Devices[other][s.step[other]]; in.Code != code || in.Message != message {
		return false
	}
	s.step[other]++
	s.runnable = append(s.runnable, other)
	return true
}

// queues holds what has been sent and not received, for each directed pair of devices.
type queues struct {
	pair        []int32 // by message: the number of its pair
	next        []int32 // by message: the one behind it, -1 for the last
	first, last []int32 // by pair: of what it holds, first is -1 if that is nothing
}

func newQueues(messages []Message) queues {
	q := queues{pair: make([]int32, len(messages)), next: make([]int32, len(messages))}
	numbers := map[pair]int32{}
	for i := range messages {
		at := pair{messages[i].From, messages[i].To}
		number, known := numbers[at]
		if !known {
			number = int32(len(numbers))
			numbers[at] = number
			q.first, q.last = append(q.first, -1), append(q.last, -1)
		}
		q.pair[i] = number
	}
	return q
}

func (q *queues) push(message int32) {
	at := q.pair[message]
	q.next[message] = -1
	if q.first[at] < 0 {
		q.first[at] = message
	} else {
		q.next[q.last[at]] = message
	}
	q.last[at] = message
}

// head returns the first of what the pair of a message holds, -1 if that is nothing.
func (q *queues) head(message int32) int32 { return q.first[q.pair[message]] }

func (q *queues) pop(message int32) { q.first[q.pair[message]] = q.next[message] }
