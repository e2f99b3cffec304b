package cssr

import "github.com/flexpipe/flexpipe/model"

// agenda holds, for each device, the time when it looks for work next; never if
// it sleeps. It is a calendar where that gives the same result, else a
// tournament tree.
type agenda struct {
	tree     tournament
	calendar *calendar // nil where a calendar does not do
	windowed bool      // the calendar serves the current run
}

type entry struct {
	time   model.Time
	device int32
}

// reset puts all devices at time 0.
func (a *agenda) reset(devices int, windowed bool) {
	a.windowed = windowed && a.calendar != nil
	if a.windowed {
		a.calendar.reset()
	} else {
		a.tree.reset(devices)
	}
}

// next returns the device that acts next; its time is never if all sleep.
func (a *agenda) next() entry {
	if a.windowed {
		return a.calendar.next()
	}
	return a.tree.node[1]
}

// at returns the time of a device.
func (a *agenda) at(d int32) model.Time {
	if a.windowed {
		return a.calendar.slot[d].time
	}
	return a.tree.node[a.tree.leaves+int(d)].time
}

// set gives a device a time.
func (a *agenda) set(d int32, t model.Time) {
	if a.windowed {
		a.calendar.set(d, t)
	} else {
		a.tree.set(d, t)
	}
}

// tournament is an agenda in the order of time, the lowest device among equals:
// the root holds the device that acts next. A change costs O(log devices), less
// where it does not reach the root.
type tournament struct {
	leaves int     // a power of two
	node   []entry // node[1] is the root, node[leaves+d] the leaf of device d
}

func newTournament(devices int) tournament {
	t := tournament{leaves: 1}
	for t.leaves < devices {
		t.leaves *= 2
	}
	t.node = make([]entry, 2*t.leaves)
	for i := range t.node {
		t.node[i] = entry{time: never}
	}
	return t
}

func (t *tournament) reset(devices int) {
	for d := range devices {
		t.node[t.leaves+d] = entry{0, int32(d)}
	}
	for i := t.leaves - 1; i >= 1; i-- {
		t.node[i] = t.winner(i)
	}
}

// winner returns the lesser child of a node, the left one among equals.
func (t *tournament) winner(i int) entry {
	left, right := t.node[2*i], t.node[2*i+1]
	if right.time < left.time {
		return right
	}
	return left
}

func (t *tournament) set(d int32, at model.Time) {
	i := t.leaves + int(d)
	t.node[i].time = at
	for i /= 2; i >= 1; i /= 2 {
		winner := t.winner(i)
		if winner == t.node[i] {
			return // nothing changes further up
		}
		t.node[i] = winner
	}
}
