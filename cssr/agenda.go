package cssr

import "github.com/flexpipe/flexpipe/model"

// agenda holds, for each device, the time when it looks for work next; never if
// it sleeps. It is a tournament tree: the root is the device with the least
// time, the lowest index among equals, so that a run is deterministic. A change
// costs O(log devices), less where it does not reach the root.
type agenda struct {
	leaves int     // a power of two
	node   []entry // node[1] is the root, node[leaves+d] the leaf of device d
}

type entry struct {
	time   model.Time
	device int32
}

func (a *agenda) init(devices int) {
	a.leaves = 1
	for a.leaves < devices {
		a.leaves *= 2
	}
	a.node = make([]entry, 2*a.leaves)
	for i := range a.node {
		a.node[i] = entry{time: never}
	}
}

// reset puts all devices at time 0.
func (a *agenda) reset(devices int) {
	for d := range devices {
		a.node[a.leaves+d] = entry{0, int32(d)}
	}
	for i := a.leaves - 1; i >= 1; i-- {
		a.node[i] = a.winner(i)
	}
}

// winner returns the lesser child of a node, the left one among equals.
func (a *agenda) winner(i int) entry {
	left, right := a.node[2*i], a.node[2*i+1]
	if right.time < left.time {
		return right
	}
	return left
}

// next returns the device that acts next, at a time below never unless all sleep.
func (a *agenda) next() entry { return a.node[1] }

// at returns the time of a device.
func (a *agenda) at(d int32) model.Time { return a.node[a.leaves+int(d)].time }

// set gives a device a time.
func (a *agenda) set(d int32, t model.Time) {
	i := a.leaves + int(d)
	a.node[i].time = t
	for i /= 2; i >= 1; i /= 2 {
		winner := a.winner(i)
		if winner == a.node[i] {
			return // nothing changes further up
		}
		a.node[i] = winner
	}
}
