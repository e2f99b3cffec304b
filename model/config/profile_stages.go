package config

import "iter"

// readStages reads the profile of each stage. It stops at the first that cannot be
// read.
func (p *profileDocument) readStages(v value) bool {
	const remedy = `write a list such as [{"durations": {"forward": {"median": 10}}}]`
	if v.absent() {
		if layers := p.root.get("layers"); !layers.absent() {
			return true
		}
		v.failMissing(remedy)
		return false
	}
	items, ok := v.items(remedy)
	if !ok {
		return false
	}
	if len(items) == 0 || len(items) > MaxStages {
		v.fail("a list for "+plural(len(items), "stage"), remedy)
		return false
	}
	p.result.Stages = make([]StageProfile, len(items))
	for i, item := range items {
		if !item.mapping("write the keys durations and memory below it") || !p.readStage(item, i) {
			return false
		}
	}
	return true
}

// readStage reads the profile of one stage.
func (p *profileDocument) readStage(v value, stage int) bool {
	result := &p.result.Stages[stage]
	if !p.readDurations(v.get("durations"), &result.Durations) {
		return false
	}
	memory := v.get("memory")
	if memory.absent() != (p.result.Stages[0].Memory == nil) && stage > 0 {
		memory.fail("some stages have memory and some do not", "give it for all stages or for none")
		return false
	}
	if memory.absent() {
		return true
	}
	var ok bool
	result.Memory, ok = readMemoryProfile(memory, stage)
	return ok
}

// readDurations reads a measurement per kind of operation of a stage.
func (p *profileDocument) readDurations(v value, result *Durations) bool {
	return readKinds(v, "stage", &result.Forward, result.optional(), p.readMeasurement)
}

// readKinds reads a measurement per kind of operation: the forward, which every owner (a stage or a
// layer) has, and those that it may lack.
func readKinds(v value, owner string, forward *Measurement, optional iter.Seq2[string, **Measurement], read func(value) (*Measurement, bool)) bool {
	const remedy = `write measurements such as {"forward": {"median": 10}}`
	if v.absent() {
		v.failMissing(remedy)
		return false
	}
	if !v.mapping(remedy) {
		return false
	}
	measured, ok := read(v.get("forward"))
	if ok && measured == nil {
		v.get("forward").failMissing("every " + owner + " has a forward: write its duration, 0 if it takes no time")
		ok = false
	}
	if !ok {
		return false
	}
	*forward = *measured
	for key, target := range optional {
		if *target, ok = read(v.get(key)); !ok {
			return false
		}
	}
	return true
}

// optional yields the places of the measurements that a stage may lack, by key.
func (t *Durations) optional() iter.Seq2[string, **Measurement] {
	return func(yield func(string, **Measurement) bool) {
		_ = yield("backward_input", &t.BackwardInput) &&
			yield("backward_weight", &t.BackwardWeight) &&
			yield("backward_full", &t.BackwardFull) &&
			yield("overlapped", &t.Overlapped)
	}
}

// readMeasurement reads the measurement of one duration; it is nil when absent.
func (p *profileDocument) readMeasurement(v value) (*Measurement, bool) {
	if v.absent() {
		return nil, true
	}
	if !v.mapping(`write a mapping such as {"median": 10}`) {
		return nil, false
	}
	median := v.get("median")
	if median.absent() {
		median.failMissing("write the duration")
		return nil, false
	}
	result := &Measurement{}
	var ok bool
	if result.Median, ok = median.duration(p.result.Unit); !ok {
		return nil, false
	}
	if result.Alone, ok = p.readQuantile(v.get("alone")); !ok {
		return nil, false
	}
	if result.P10, ok = p.readQuantile(v.get("p10")); !ok {
		return nil, false
	}
	if result.P90, ok = p.readQuantile(v.get("p90")); !ok {
		return nil, false
	}
	if samples := v.get("samples"); !samples.absent() {
		result.Samples, ok = samples.whole(1, maxWidth)
	}
	return result, ok
}

// readQuantile reads a duration that may be absent.
func (p *profileDocument) readQuantile(v value) (*Decimal, bool) {
	if v.absent() {
		return nil, true
	}
	quantile, ok := v.duration(p.result.Unit)
	return &quantile, ok
}

// readMemoryProfile reads what a stage holds, and fills in defaults as for the
// section memory of a configuration.
func readMemoryProfile(v value, stage int) (*MemoryProfile, bool) {
	if !v.mapping("write keys such as activation below it") {
		return nil, false
	}
	ok := true
	read := func(key string, signed bool) cell[Decimal] {
		entry := cell[Decimal]{at: v.get(key)}
		if entry.at.absent() {
			return entry
		}
		size, _, good := entry.at.signedSize()
		if !signed {
			size, good = entry.at.notNegative(size, good)
		}
		entry.value, ok = &size, ok && good
		return entry
	}
	parts := memoryParts{
		activation: read("activation", false), static: read("static", false),
		input: read("freed_by_backward_input", true), weight: read("freed_by_backward_weight", false),
	}
	if !ok {
		return nil, false
	}
	memory, ok := parts.settle(stage)
	result := MemoryProfile(memory)
	return &result, ok
}

// readEdges reads the stage graph with its latencies.
func (p *profileDocument) readEdges(v value) {
	const remedy = `write a list such as [{"from": 0, "to": 1, "latency": 2}]`
	if v.absent() {
		return
	}
	if p.result.Stages == nil {
		v.fail("the profile has no stages for edges to connect", "give stages, or leave it out")
		return
	}
	items, ok := v.items(remedy)
	if !ok {
		return
	}
	p.result.Edges = make([]EdgeProfile, 0, len(items))
	for _, item := range items {
		edge, ok := p.readEdge(item)
		if !ok {
			return
		}
		p.result.Edges = append(p.result.Edges, edge)
	}
	checkEdges(v, len(p.result.Stages), p.edges(), items)
}

// readEdge reads one edge.
func (p *profileDocument) readEdge(v value) (edge EdgeProfile, ok bool) {
	const remedy = `write an edge such as {"from": 0, "to": 1, "latency": 2}`
	if !v.mapping(remedy) {
		return EdgeProfile{}, false
	}
	from, to, latency := v.get("from"), v.get("to"), v.get("latency")
	for _, part := range []value{from, to, latency} {
		if part.absent() {
			part.failMissing(remedy)
			return EdgeProfile{}, false
		}
	}
	if edge.From, ok = from.index(len(p.result.Stages), "stage"); !ok {
		return EdgeProfile{}, false
	}
	if edge.To, ok = to.index(len(p.result.Stages), "stage"); !ok {
		return EdgeProfile{}, false
	}
	edge.Latency, ok = latency.duration(p.result.Unit)
	return edge, ok
}

// edges returns the edges without their latencies.
func (p *profileDocument) edges() []Edge {
	edges := make([]Edge, len(p.result.Edges))
	for i, edge := range p.result.Edges {
		edges[i] = Edge{From: edge.From, To: edge.To}
	}
	return edges
}
