package heuristics

// squeezer moves the passes of repeated building blocks to earlier slots. All
// passes take one slot, and micro-batches stay in their order (Qi et al.:
// Pipeline Parallelism with Controllable Memory, "squeezing").
//
// A task is a pass of a micro-batch on a rank.
type squeezer struct {
	ranks, micro int
	limit        int       // largest number of live activations in the repeated blocks
	table        [][]int32 // by rank and slot: the task, or noTask
	live         [][]int32 // by rank and slot: live activations after it, up to the last task
	slot         [][]int32 // by rank and task: the slot
}

// noTask marks a slot without a task, and a task without a slot.
const noTask = -1

func newSqueezer(ranks, micro int) *squeezer {
	s := &squeezer{
		ranks: ranks, micro: micro,
		table: make([][]int32, ranks), live: make([][]int32, ranks), slot: make([][]int32, ranks),
	}
	for r := range ranks {
		s.slot[r] = make([]int32, int(numVPasses)*micro)
	}
	return s
}

func (s *squeezer) task(v vPass, m int) int32 { return int32(int(v)*s.micro + m) }

func (s *squeezer) split(task int32) (vPass, int) {
	return vPass(int(task) / s.micro), int(task) % s.micro
}

// repeat lays out the building block of each rank for all micro-batches, and
// weight gradients, oldest first, in the slots between. It returns the tasks by
// rank and slot, and sets the limit.
func (s *squeezer) repeat(blockOf func(ranks, rank int) vBlock) [][]int32 {
	blocks := make([][]int32, s.ranks)
	for r := range blocks {
		b := blockOf(s.ranks, r)
		blocks[r] = emptySlots(b[firstInput] + 1 + vPeriod*(s.micro-1))
		for v, start := range b {
			for m := range s.micro {
				blocks[r][start+vPeriod*m] = s.task(vPass(v), m)
			}
		}
		blocks[r] = s.addWeights(blocks[r])
	}
	return blocks
}

func emptySlots(n int) []int32 {
	slots := make([]int32, n)
	for i := range slots {
		slots[i] = noTask
	}
	return slots
}

// addWeights puts weight gradients into empty slots, and raises the limit to the
// live activations of the whole.
func (s *squeezer) addWeights(slots []int32) []int32 {
	var putOff []int32
	live := 0
	for i, t := range slots {
		if t == noTask && len(putOff) > 0 {
			t, putOff = putOff[0], putOff[1:]
			slots[i] = t
		}
		if t == noTask {
			continue
		}
		v, m := s.split(t)
		live += v.live()
		s.limit = max(s.limit, live)
		if v == secondInput || v == firstInput {
			putOff = append(putOff, s.task(v+2, m))
		}
	}
	return append(slots, putOff...)
}

// squeeze takes the tasks of repeated blocks slot by slot, and puts each into the
// earliest empty slot that its predecessors and the limit allow, at the latest
// into the one that it has.
func (s *squeezer) squeeze(blocks [][]int32) {
	longest := 0
	for r := range blocks {
		longest = max(longest, len(blocks[r]))
		s.table[r] = emptySlots(len(blocks[r]))
	}
	for at := range longest {
		for r := range blocks {
			if at < len(blocks[r]) && blocks[r][at] != noTask {
				s.place(r, blocks[r][at], at)
			}
		}
	}
}

func (s *squeezer) place(r int, task int32, latest int) {
	v, m := s.split(task)
	at := s.earliest(r, v, m)
	if v.live() > 0 {
		at = max(at, s.room(r, at, latest))
	}
	at = s.emptySlot(r, at, latest)
	s.put(r, task, at)
	s.count(r, at, int32(v.live()))
}

// earliest returns the slot after the last predecessor of a pass.
func (s *squeezer) earliest(r int, v vPass, m int) int {
	after := int32(noTask)
	if m > 0 {
		after = s.slot[r][s.task(v, m-1)]
	}
	before, first := r+1, s.ranks-1
	if v.downstream() {
		before, first = r-1, 0
	}
	switch {
	case v >= secondWeight:
		after = max(after, s.slot[r][s.task(v-2, m)])
	case r != first:
		after = max(after, s.slot[before][s.task(v, m)])
	case v != firstForward:
		after = max(after, s.slot[r][s.task(v-1, m)])
	}
	return int(after) + 1
}

// room returns the first slot, from one on, from which on up to the latest there
// is room for one more live activation; the latest always has room.
func (s *squeezer) room(r, from, latest int) int {
	live := s.live[r]
	if n := len(live); n > 0 && int(live[n-1]) >= s.limit {
		return latest
	}
	for i := len(live) - 1; i >= from; i-- {
		if int(live[i]) >= s.limit {
			return i + 1
		}
	}
	return from
}

// emptySlot returns the first empty slot between two, or the latest.
func (s *squeezer) emptySlot(r, from, latest int) int {
	for at := from; at < latest; at++ {
		if s.table[r][at] == noTask {
			return at
		}
	}
	return latest
}

func (s *squeezer) put(r int, task int32, at int) {
	s.table[r][at] = task
	s.slot[r][task] = int32(at)
}

// count adds to the live activations from a slot on.
func (s *squeezer) count(r, at int, live int32) {
	now := int32(0)
	if n := len(s.live[r]); n > 0 {
		now = s.live[r][n-1]
	}
	for len(s.live[r]) <= at {
		s.live[r] = append(s.live[r], now)
	}
	for i := at; i < len(s.live[r]); i++ {
		s.live[r][i] += live
	}
}

// packCoolDown moves the backward input passes after a rank's last forward
// together, and its weight gradients behind them and into what gaps remain.
func (s *squeezer) packCoolDown() {
	weights := make([][]int32, s.ranks)
	last := make([]int, s.ranks)
	longest := 0
	for r := range s.ranks {
		last[r] = int(s.slot[r][s.task(secondForward, s.micro-1)])
		weights[r] = s.takeWeights(r, last[r]+1)
		longest = max(longest, len(s.table[r]))
	}
	for at := range longest {
		for r := range s.ranks {
			if at > last[r] && at < len(s.table[r]) && s.table[r][at] != noTask {
				s.move(r, at)
			}
		}
	}
	for r := range s.ranks {
		for _, task := range weights[r] {
			v, m := s.split(task)
			s.put(r, task, s.emptySlot(r, s.earliest(r, v, m), len(s.table[r])-1))
		}
	}
}

// takeWeights takes the weight gradients out of the slots from one on.
func (s *squeezer) takeWeights(r, from int) (taken []int32) {
	for at := from; at < len(s.table[r]); at++ {
		if t := s.table[r][at]; t >= s.task(secondWeight, 0) {
			s.table[r][at] = noTask
			taken = append(taken, t)
		}
	}
	return taken
}

// move puts the task of a slot into the earliest empty slot that its predecessors
// allow.
func (s *squeezer) move(r, at int) {
	task := s.table[r][at]
	v, m := s.split(task)
	s.table[r][at] = noTask
	s.put(r, task, s.emptySlot(r, s.earliest(r, v, m), at))
}
