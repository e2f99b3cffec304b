package constraints

import "github.com/flexpipe/flexpipe/model"

// complete tests, after all orders were walked, that every operation stands in
// them as often as it must, and the timeline holds nothing else.
func (j *judge) complete() {
	if j.p.HasChoice {
		j.choices()
	}
	for r := range j.tables {
		if j.p.Rows[r].Choice != model.Always {
			continue
		}
		t := &j.tables[r]
		if slots := t.count * len(t.devices); j.seen.count(t.slot, t.slot+slots) == slots {
			continue // whole, and the walk saw every start
		}
		for index := range t.count {
			j.whole(t, index)
		}
	}
}

// whole reports the devices in whose order an operation is missing.
func (j *judge) whole(t *table, index int) {
	op := t.base + model.OpID(index)
	if j.misplaced[op] {
		return // reported as that
	}
	for seat, d := range t.devices {
		if !j.seen.has(t.slot + seat*t.count + index) {
			j.reportMissing(int(d), op)
		}
	}
}

// held reports whether an operation stands in any order, be it a foreign one.
func (j *judge) held(t *table, index int) bool {
	for seat := range t.devices {
		if j.seen.has(t.slot + seat*t.count + index) {
			return true
		}
	}
	return j.misplaced[t.base+model.OpID(index)]
}

// choices tests the rows that depend on the choice between split and fused.
func (j *judge) choices() {
	type place struct{ stage, route int }
	split := map[place][]*table{}
	for r := range j.tables {
		if row := &j.p.Rows[r]; row.Choice == model.WhenSplit {
			at := place{row.Stage, row.Route}
			split[at] = append(split[at], &j.tables[r])
		}
	}
	for r := range j.tables {
		if row := &j.p.Rows[r]; row.Choice == model.WhenFused {
			fused := &j.tables[r]
			for index := range fused.count {
				j.choice(fused, split[place{row.Stage, row.Route}], index)
			}
		}
	}
}

// choice tests that a plan holds one case and not the other, and that one whole.
func (j *judge) choice(fused *table, split []*table, index int) {
	isFused, isSplit := j.held(fused, index), false
	for _, t := range split {
		isSplit = isSplit || j.held(t, index)
	}
	if isFused == isSplit {
		j.reportChoice(fused, split, index)
		return
	}
	if isFused {
		j.whole(fused, index)
	} else {
		j.idle(fused, index)
	}
	for _, t := range split {
		if isSplit {
			j.whole(t, index)
		} else {
			j.idle(t, index)
		}
	}
}

// idle tests that the timeline does not hold an operation of the other case.
func (j *judge) idle(t *table, index int) {
	if op := t.base + model.OpID(index); j.start[op] != model.Absent {
		j.reportStray(op)
	}
}
