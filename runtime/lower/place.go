package lower

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// send puts the messages into the order in which they leave: directly behind their
// producers, or before the transfers that they travel by; several at one place in the order
// of their consumers, which is that of their numbers.
func (l *lowering) send() error {
	all := make([]int32, len(l.messages))
	for m := range all {
		all[m] = int32(m)
	}
	l.sent = bucketed(all, 2*len(l.order), l.sendKey)
	return nil
}

// bucketed sorts messages by a key below n. Those of one key stay as they are.
func bucketed(messages []int32, n int, key func(m int32) int32) []int32 {
	first := make([]int32, n+1)
	for _, m := range messages {
		first[key(m)+1]++
	}
	for k := range n {
		first[k+1] += first[k]
	}
	sorted := make([]int32, len(messages))
	for _, m := range messages {
		k := key(m)
		sorted[first[k]] = m
		first[k]++
	}
	return sorted
}

func (l *lowering) checkSends() error {
	for i := 1; i < len(l.sent); i++ {
		a, b := l.sent[i-1], l.sent[i]
		if ka, kb := l.sendKey(a), l.sendKey(b); ka > kb || ka == kb && a >= b {
			return fmt.Errorf("message %d leaves before message %d", a, b)
		}
	}
	return same("messages that leave", len(l.sent), len(l.messages))
}

// receive places each message before its consumer, or before the first consumer of a
// message that left later between the same two devices: a minimum over what is behind it.
// So the messages between two devices arrive in the order in which they left, and each
// still leaves before it is received: it left before one that does.
func (l *lowering) receive() error {
	l.slot = make([]int32, len(l.messages))
	least := map[pair]int32{}
	for _, m := range slices.Backward(l.sent) {
		at := pair{l.messages[m].From, l.messages[m].To}
		slot := l.needed(m)
		if behind, ok := least[at]; ok {
			slot = min(slot, behind)
		}
		least[at], l.slot[m] = slot, slot
	}
	l.received = bucketed(l.sent, len(l.order), func(m int32) int32 { return l.slot[m] })
	return nil
}

func (l *lowering) checkReceives() error {
	last := map[pair]int32{}
	for _, m := range l.sent {
		slot, at := l.slot[m], pair{l.messages[m].From, l.messages[m].To}
		before := l.order[slot]
		switch {
		case slot > l.needed(m):
			return fmt.Errorf("message %d is received behind %s, which needs it", m, l.p.Name(l.messages[m].Consumer))
		case l.sendKey(m) > 2*slot:
			return fmt.Errorf("message %d is received before %s, when it has not left", m, l.p.Name(before))
		case !slices.Contains(l.p.Row(before).Devices, at.to):
			return fmt.Errorf("message %d is received before %s, which does not run on device %d", m, l.p.Name(before), at.to)
		case slot < last[at]:
			return fmt.Errorf("message %d overtakes one that left before it", m)
		}
		last[at] = slot
	}
	return same("messages that are received", len(l.received), len(l.messages))
}

// emit writes the instructions, operation by operation.
func (l *lowering) emit() error {
	l.allocate()
	sent, received := l.sent, l.received
	for rank, op := range l.order {
		for len(received) > 0 && l.slot[received[0]] == int32(rank) {
			l.put(l.messages[received[0]].To, Instr{Code: Receive, Op: l.messages[received[0]].Consumer, Message: received[0]})
			received = received[1:]
		}
		sent = l.leave(sent, 2*int32(rank))
		row := l.p.Row(op)
		for i, d := range row.Devices {
			var delta model.Delta
			if row.Memory != nil {
				delta = row.Memory[i]
			}
			l.memory(d, op, delta.AtStart)
			l.put(d, Instr{Code: Compute, Op: op, Message: -1})
			l.memory(d, op, delta.AtEnd)
		}
		sent = l.leave(sent, 2*int32(rank)+1)
	}
	return nil
}

// leave sends the messages of a key, which are the first of those left, and returns the others.
func (l *lowering) leave(sent []int32, key int32) []int32 {
	for len(sent) > 0 && l.sendKey(sent[0]) == key {
		l.put(l.messages[sent[0]].From, Instr{Code: Send, Op: l.messages[sent[0]].Producer, Message: sent[0]})
		sent = sent[1:]
	}
	return sent
}

func (l *lowering) put(d int32, in Instr) { l.devices[d] = append(l.devices[d], in) }

// memory takes or gives back, whatever the sign says: a problem may have an operation that
// gives back when it starts.
func (l *lowering) memory(d int32, op model.OpID, delta model.Bytes) {
	switch {
	case delta > 0:
		l.put(d, Instr{Code: Take, Op: op, Message: -1, Bytes: delta})
	case delta < 0:
		l.put(d, Instr{Code: Give, Op: op, Message: -1, Bytes: -delta})
	}
}

// allocate makes room for the instructions, no more than there are: the programs are the
// largest part of what a lowering holds.
func (l *lowering) allocate() {
	room := make([]int, l.p.NumDevices())
	for i := range l.messages {
		room[l.messages[i].From]++
		room[l.messages[i].To]++
	}
	for _, op := range l.order {
		row := l.p.Row(op)
		for i, d := range row.Devices {
			room[d]++
			if row.Memory == nil {
				continue
			}
			if row.Memory[i].AtStart != 0 {
				room[d]++
			}
			if row.Memory[i].AtEnd != 0 {
				room[d]++
			}
		}
	}
	l.devices = make([][]Instr, len(room))
	for d := range l.devices {
		l.devices[d] = make([]Instr, 0, room[d])
	}
}

// checkPrograms tests the form of the programs, and that each device ends with what it began.
func (l *lowering) checkPrograms() error {
	g := &Program{Problem: l.p, Plan: l.plan, Devices: l.devices, Messages: l.messages}
	if err := g.checkForm(); err != nil {
		return err
	}
	for d := range l.devices {
		held := model.Bytes(0)
		for i := range l.devices[d] {
			switch in := &l.devices[d][i]; in.Code {
			case Take:
				held += in.Bytes
			case Give:
				held -= in.Bytes
			}
		}
		if held != 0 {
			return fmt.Errorf("%s ends with %s more than it began with", l.p.DeviceName(d), l.p.FormatMemory(held))
		}
	}
	return nil
}
