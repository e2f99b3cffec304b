package model

import "slices"

// The types below are the problem part of a plan file, version 1: a Pipeline
// with its absent values left out. All times are ticks of time_unit, all amounts
// of memory are whole numbers of memory_unit.

type problemJSON struct {
	Name          string            `json:"name"`
	TimeUnit      Unit              `json:"time_unit"`
	MemoryUnit    Unit              `json:"memory_unit"`
	Objective     *string           `json:"objective"`
	MicroBatches  int               `json:"micro_batches"`
	Factors       []int64           `json:"factors"`
	FactorScale   *int64            `json:"factor_scale"` // default 1
	Routes        []int             `json:"routes"`
	Devices       []deviceJSON      `json:"devices"`
	Stages        []stageJSON       `json:"stages"`
	Operations    []operationJSON   `json:"operations"`
	Communication communicationJSON `json:"communication"`
	Network       objectText        `json:"network"`
}

type deviceJSON struct {
	Name   string `json:"name,omitempty"`
	Limit  *Bytes `json:"memory_limit,omitempty"` // nil: none
	Engine bool   `json:"engine,omitempty"`
}

// stageJSON has either its only replica in place, or a list of several.
type stageJSON struct {
	After []int `json:"after,omitempty"`
	replicaJSON
	Replicas     []replicaJSON `json:"replicas,omitempty"`
	Backward     *string       `json:"backward,omitempty"` // default split
	Activation   Bytes         `json:"activation,omitempty"`
	FreedByInput Bytes         `json:"freed_by_backward_input,omitempty"`
	Static       Bytes         `json:"static,omitempty"`
}

type replicaJSON struct {
	Devices        []int `json:"devices,omitempty"`
	Forward        *Time `json:"forward,omitempty"` // nil, here and below: no such operation
	BackwardInput  *Time `json:"backward_input,omitempty"`
	BackwardWeight *Time `json:"backward_weight,omitempty"`
	BackwardFull   *Time `json:"backward_full,omitempty"`
	Overlapped     *Time `json:"overlapped,omitempty"`
}

type communicationJSON struct {
	Latency Time       `json:"latency,omitempty"`
	Links   []linkJSON `json:"links,omitempty"`
	Mode    *string    `json:"mode,omitempty"` // default overlapped
}

type linkJSON struct {
	From    int  `json:"from"`
	To      int  `json:"to"`
	Latency Time `json:"latency"`
}

var communicationModes = []string{"overlapped", "blocking"}

// wordOf returns the word for an index, nil for the default, 0.
func wordOf(words []string, index int) *string {
	if index == 0 {
		return nil
	}
	return &words[index]
}

// present returns nil for the value that stands for none, else a pointer to v.
func present[T Time | Bytes](v, none T) *T {
	if v == none {
		return nil
	}
	return &v
}

func toDevice(d Device) deviceJSON {
	return deviceJSON{Name: d.Name, Limit: present(d.Limit, Unlimited), Engine: d.Engine}
}

func toReplica(r *Replica) replicaJSON {
	d := &r.Durations
	return replicaJSON{
		Devices: r.Devices,
		Forward: present(d.Forward, Absent), BackwardInput: present(d.BackwardInput, Absent),
		BackwardWeight: present(d.BackwardWeight, Absent), BackwardFull: present(d.BackwardFull, Absent),
		Overlapped: present(d.Overlapped, Absent),
	}
}

func (r *replicaJSON) isZero() bool {
	return r.Devices == nil && r.Forward == nil && r.BackwardInput == nil &&
		r.BackwardWeight == nil && r.BackwardFull == nil && r.Overlapped == nil
}

func toStage(s *Stage) stageJSON {
	j := stageJSON{
		After: s.After, Backward: wordOf(modeNames, int(s.Backward)),
		Activation: s.Activation, FreedByInput: s.FreedByInput, Static: s.Static,
	}
	if len(s.Replicas) == 1 {
		j.replicaJSON = toReplica(&s.Replicas[0])
		return j
	}
	for i := range s.Replicas {
		j.Replicas = append(j.Replicas, toReplica(&s.Replicas[i]))
	}
	return j
}

func toCommunication(pl *Pipeline) communicationJSON {
	c := communicationJSON{Latency: pl.Latency}
	for _, l := range pl.Links {
		c.Links = append(c.Links, linkJSON(l))
	}
	if pl.Blocking {
		c.Mode = &communicationModes[1]
	}
	return c
}

// pipelineReader turns what a plan file holds into a Pipeline. The first error
// sticks.
type pipelineReader struct {
	r   *jsonReader
	at  int // offset of the problem
	err error
}

// fail reports what is wrong at a place below the problem.
func (b *pipelineReader) fail(path []pathStep, format string, args ...any) {
	if b.err == nil {
		b.err = b.r.failAt(b.at, path, format, args...)
	}
}

// line returns a text, which must be short and printable.
func (b *pipelineReader) line(path []pathStep, text string) string {
	if !isShortLine(text) {
		b.fail(path, notShortLine)
	}
	return text
}

func (b *pipelineReader) unit(key string, u Unit) Unit {
	b.line(steps(key, "name"), u.Name)
	return u
}

// index returns the index of a word, 0 for nil.
func (b *pipelineReader) index(path []pathStep, words []string, word *string) int {
	if word == nil {
		return 0
	}
	i := slices.Index(words, *word)
	if i < 0 {
		b.fail(path, "%.60q is not known; known are %q", *word, words)
	}
	return max(i, 0)
}

func (b *pipelineReader) pipeline(j *problemJSON) *Pipeline {
	pl := &Pipeline{
		Name: b.line(steps("name"), j.Name), TimeUnit: b.unit("time_unit", j.TimeUnit), MemoryUnit: b.unit("memory_unit", j.MemoryUnit),
		Objective:    Objective(b.index(steps("objective"), objectiveNames, j.Objective)),
		MicroBatches: j.MicroBatches, Factors: j.Factors, FactorScale: 1, Routes: j.Routes,
		Latency: j.Communication.Latency, Network: string(j.Network),
		Blocking: b.index(steps("communication", "mode"), communicationModes, j.Communication.Mode) == 1,
	}
	if j.FactorScale != nil {
		pl.FactorScale = *j.FactorScale
	}
	for i, d := range j.Devices {
		b.line(append(steps("devices"), pathStep{index: i}, pathStep{key: "name"}), d.Name)
		limit := Unlimited
		if d.Limit != nil {
			limit = *d.Limit
		}
		pl.Devices = append(pl.Devices, Device{Name: d.Name, Limit: limit, Engine: d.Engine})
	}
	for s := range j.Stages {
		pl.Stages = append(pl.Stages, b.stage(s, &j.Stages[s]))
	}
	for _, o := range j.Operations {
		pl.Operations = append(pl.Operations, o.operation())
	}
	for _, l := range j.Communication.Links {
		pl.Links = append(pl.Links, Link(l))
	}
	return pl
}

func (b *pipelineReader) stage(s int, j *stageJSON) Stage {
	path := append(steps("stages"), pathStep{index: s})
	st := Stage{
		After: j.After, Backward: Mode(b.index(append(path, pathStep{key: "backward"}), modeNames, j.Backward)),
		Activation: j.Activation, FreedByInput: j.FreedByInput, Static: j.Static,
	}
	if j.Replicas == nil {
		st.Replicas = []Replica{b.replica(path, &j.replicaJSON)}
		return st
	}
	if !j.replicaJSON.isZero() {
		b.fail(path, "devices or durations stand beside the list of replicas; move them into the list")
	}
	for i := range j.Replicas {
		st.Replicas = append(st.Replicas, b.replica(append(path, pathStep{key: "replicas"}, pathStep{index: i}), &j.Replicas[i]))
	}
	return st
}

func (b *pipelineReader) replica(path []pathStep, j *replicaJSON) Replica {
	duration := func(t *Time) Time {
		switch {
		case t == nil:
			return Absent
		case *t < 0:
			b.fail(path, "duration %d is negative; leave out what the stage does not run", *t)
		}
		return *t
	}
	return Replica{Devices: j.Devices, Durations: Durations{
		Forward: duration(j.Forward), BackwardInput: duration(j.BackwardInput),
		BackwardWeight: duration(j.BackwardWeight), BackwardFull: duration(j.BackwardFull),
		Overlapped: duration(j.Overlapped),
	}}
}
