package config

// readCosts reads the durations of all stages from the configuration or its profile,
// and checks that every gradient that is waited for is sent. edges says that the
// stage graph is known.
func (d *decoder) readCosts(edges bool) {
	stages, ok := d.durations()
	if !ok {
		return
	}
	costs := make([]StageCosts, len(stages))
	for i, stage := range stages {
		stage.stage, stage.mode = i, d.config.Backward[i]
		if costs[i], ok = stage.costs(); !ok {
			return
		}
	}
	if d.profile == nil && !checkShared(stages[0], costs) {
		return
	}
	d.config.Costs = costs
	if edges {
		d.checkGradients(stages)
	}
}

// durations returns the durations of each stage as written.
func (d *decoder) durations() ([]stageDurations, bool) {
	if d.profile != nil {
		return d.profile.durations(d.config.Unit), true
	}
	return d.writtenDurations()
}

// writtenDurations reads the section costs.
func (d *decoder) writtenDurations() (list []stageDurations, ok bool) {
	section := d.root.get("costs")
	ok = true
	read := func(key string) column[Decimal] {
		col, good := perStage(section.get(key), d.config.Stages, "stage cost", d.duration)
		ok = ok && good
		return col
	}
	forward := read("forward")
	input, weight := read("backward_input"), read("backward_weight")
	full, overlapped := read("backward_full"), read("overlapped")
	if !ok {
		return nil, false
	}
	list = make([]stageDurations, d.config.Stages)
	for s := range list {
		list[s] = stageDurations{
			forward: forward.cells[s], input: input.cells[s], weight: weight.cells[s],
			full: full.cells[s], overlapped: overlapped.cells[s],
			leftOut: input.at.missing || weight.at.missing, defaultFull: full.at.missing,
			ownFull: full.at.listed(), ownOverlapped: overlapped.at.listed(),
		}
	}
	return list, true
}

// duration reads a duration in the unit of the configuration.
func (d *decoder) duration(v value) (Decimal, bool) { return v.duration(d.config.Unit) }
