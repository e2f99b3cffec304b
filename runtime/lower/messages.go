package lower

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// connect makes the messages, numbered by their consumers in order.
func (l *lowering) connect() error {
	c := connector{lowering: l, last: slices.Repeat([]lastOf{{consumer: -1}}, l.p.NumDevices())}
	for _, op := range l.order {
		c.connect(op)
	}
	return nil
}

// connector makes the messages of one consumer after the other.
type connector struct {
	*lowering
	producers []producer
	last      []lastOf // by device
}

// lastOf is the last producer of a consumer on a device: when that has ended, all others on
// the device have.
type lastOf struct {
	consumer model.OpID
	rank     int32
	signal   bool // it puts out nothing for the consumer
}

// connect makes the messages to one consumer. All that bring something are there; of those
// that only say that a producer has ended, the last one of each device.
func (c *connector) connect(op model.OpID) {
	row := c.p.Row(op)
	c.producers = c.lowering.producers(c.producers[:0], op)
	for _, q := range c.producers {
		if q.carries&barrier != 0 {
			continue
		}
		source := c.source(q)
		last := &c.last[c.p.Row(source).Devices[0]]
		rank, signal := c.rank[source], q.carries == Nothing
		switch {
		case last.consumer != op || rank > last.rank:
			*last = lastOf{op, rank, signal}
		case rank == last.rank:
			last.signal = last.signal && signal
		}
	}
	for _, q := range c.producers {
		if q.carries&barrier != 0 {
			continue
		}
		source := c.source(q)
		from := c.p.Row(source)
		if q.carries == Nothing {
			last := &c.last[from.Devices[0]]
			if last.rank != c.rank[source] || !last.signal {
				continue
			}
			last.signal = false // the same operation may be waited for twice
		}
		via := model.OpID(-1)
		if source != q.op {
			via = q.op
		}
		for _, d := range row.Devices {
			if _, local := slices.BinarySearch(from.Devices, d); !local {
				c.add(Message{Producer: source, Consumer: op, From: from.Devices[0], To: d, Carries: q.carries}, via)
			}
		}
	}
}

// source returns the operation whose result a producer hands on: of a blocking transfer
// that brings something, the one before it; else the producer itself.
func (l *lowering) source(q producer) model.OpID {
	r := l.p.RowOf(q.op)
	if row := &l.p.Rows[r]; q.carries != Nothing && row.Kind.IsTransfer() {
		first, _ := l.p.PredOps(r, int(q.op-l.p.Base(r)), row.Preds[0])
		if held, ok := l.held(first, int(row.Preds[0].Row)); ok {
			return held
		}
	}
	return q.op
}

func (l *lowering) add(m Message, via model.OpID) {
	if via >= 0 && l.via == nil {
		l.via = slices.Repeat([]model.OpID{-1}, len(l.messages))
	}
	l.messages = append(l.messages, m)
	if l.via != nil {
		l.via = append(l.via, via)
	}
}

// checkMessages tests that each message runs forward between two devices, and that each
// device of a consumer hears, from each device with a producer that it does not take part
// in, of the last one at least; and of all that bring something.
func (l *lowering) checkMessages() error {
	var buf []producer
	heard, next := map[pair]int32{}, 0
	for _, op := range l.order {
		first := next
		for next < len(l.messages) && l.messages[next].Consumer == op {
			if err := l.checkMessage(&l.messages[next]); err != nil {
				return err
			}
			next++
		}
		buf = l.producers(buf[:0], op)
		if err := l.checkHeard(op, buf, l.messages[first:next], heard); err != nil {
			return err
		}
	}
	return same("messages by consumer", next, len(l.messages))
}

func (l *lowering) checkMessage(m *Message) error {
	if m.From == m.To || l.rank[m.Producer] < 0 || l.rank[m.Producer] >= l.rank[m.Consumer] {
		return fmt.Errorf("a message from %s on device %d to %s on device %d", l.p.Name(m.Producer), m.From, l.p.Name(m.Consumer), m.To)
	}
	return nil
}

// pair is two devices, in the direction of a message.
type pair struct{ from, to int32 }

// checkHeard compares the producers of an operation with the messages to it. heard is
// space: for two devices the largest rank of a producer on the first one that the second
// one hears of, by a message or because it takes part in it.
func (l *lowering) checkHeard(op model.OpID, producers []producer, messages []Message, heard map[pair]int32) error {
	clear(heard)
	brought, bring := 0, 0
	hear := func(from, to int32, q model.OpID) {
		heard[pair{from, to}] = max(heard[pair{from, to}], 1+l.rank[q])
	}
	for i := range messages {
		m := &messages[i]
		hear(m.From, m.To, m.Producer)
		if m.Carries != Nothing {
			brought++
		}
	}
	each := func(visit func(q producer, source model.OpID, from []int32, d int32)) {
		for _, q := range producers {
			if q.carries&barrier != 0 {
				continue
			}
			source := l.source(q)
			for _, d := range l.p.Row(op).Devices {
				visit(q, source, l.p.Row(source).Devices, d)
			}
		}
	}
	each(func(_ producer, source model.OpID, from []int32, d int32) {
		if from[0] != d && slices.Contains(from, d) {
			hear(from[0], d, source)
		}
	})
	var err error
	each(func(q producer, source model.OpID, from []int32, d int32) {
		if slices.Contains(from, d) {
			return
		}
		if q.carries != Nothing {
			bring++
		}
		if heard[pair{from[0], d}] <= l.rank[source] {
			err = fmt.Errorf("%s on device %d hears nothing of the end of %s", l.p.Name(op), d, l.p.Name(source))
		}
	})
	if err == nil && brought != bring {
		err = same("messages that bring something to "+l.p.Name(op), brought, bring)
	}
	return err
}
