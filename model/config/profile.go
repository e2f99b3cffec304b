package config

import (
	"encoding/json"

	"go.yaml.in/yaml/v3"
)

// Header of a profile file.
const (
	profileFormat  = "flexpipe/profile"
	profileVersion = 1
)

// Profile is what the operations of each stage, or of each layer of a network, took when
// they were measured. A configuration names one instead of giving `costs` and `memory`,
// or, beside a `model`, instead of a `cluster`. The file is JSON.
//
// Durations are in Unit, and sizes are bytes. A profile has stages, layers, or both.
type Profile struct {
	Unit           Unit              `json:"unit"`
	MicroBatchSize int               `json:"micro_batch_size,omitzero"` // samples; 0 when unknown
	Stages         []StageProfile    `json:"stages,omitzero"`           // 1 to MaxStages; nil when only layers were measured
	Layers         []LayerProfile    `json:"layers,omitzero"`           // all of a network, in the order of its parts; nil when not measured
	Network        Object            `json:"network,omitzero"`          // which layers of which network the stages hold, see model/network.Blueprint
	Link           *LinkProfile      `json:"link,omitzero"`             // nil when not measured
	Edges          []EdgeProfile     `json:"edges,omitzero"`            // the stage graph; nil is the chain, latencies not measured
	Provenance     map[string]string `json:"provenance,omitzero"`       // free text about machine, date and network
}

// StageProfile is the profile of one stage. All stages have memory, or none has.
type StageProfile struct {
	Durations Durations      `json:"durations"`
	Memory    *MemoryProfile `json:"memory,omitzero"`
}

// Durations holds a measurement per kind of operation. A kind that the stage does
// not have, or that was not measured, is nil.
type Durations struct {
	Forward        Measurement  `json:"forward"`
	BackwardInput  *Measurement `json:"backward_input,omitzero"`
	BackwardWeight *Measurement `json:"backward_weight,omitzero"`
	BackwardFull   *Measurement `json:"backward_full,omitzero"`
	Overlapped     *Measurement `json:"overlapped,omitzero"`
}

// Measurement sums up the repeated measurement of one duration. The median counts
// as the cost, so it is taken with all devices at work; the rest is for the reader.
type Measurement struct {
	Median  Decimal  `json:"median"`
	Alone   *Decimal `json:"alone,omitzero"` // the median when nothing else ran; nil when unknown
	P10     *Decimal `json:"p10,omitzero"`   // a tenth of the samples took at most this; nil when unknown
	P90     *Decimal `json:"p90,omitzero"`   // nine tenths of the samples took at most this; nil when unknown
	Samples int      `json:"samples,omitzero"`
}

// MemoryProfile is what a stage held in memory, in bytes, as in [StageMemory].
type MemoryProfile struct {
	Activation            Decimal `json:"activation"`
	FreedByBackwardInput  Decimal `json:"freed_by_backward_input"`
	FreedByBackwardWeight Decimal `json:"freed_by_backward_weight"`
	Static                Decimal `json:"static"`
}

// EdgeProfile is an edge of the stage graph with the latency of its transfer between
// two devices.
type EdgeProfile struct {
	From    int     `json:"from"` // stage
	To      int     `json:"to"`   // stage
	Latency Decimal `json:"latency"`
}

// Encode returns the profile as the content of a file that [DecodeProfile] reads
// back as the same profile.
func (p *Profile) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		*Profile
	}{profileFormat, profileVersion, p}, "", "  ")
	return append(text, '\n'), err
}

// DecodeProfile reads a profile from data. name stands for the document in errors.
// The error is an [Errors] as in [Decode].
func DecodeProfile(data []byte, name string) (*Profile, error) {
	var problems Errors
	document, ok := parseProfile(data, name, &problems)
	if !ok {
		return nil, problems.sorted(name)
	}
	return document.result, nil
}

// profileDocument is a profile together with the text that it was read from, so that
// problems found later can point there.
type profileDocument struct {
	root   value
	result *Profile
}

// parseProfile reads a profile and adds what is wrong with it to problems.
func parseProfile(data []byte, name string, problems *Errors) (*profileDocument, bool) {
	before := len(*problems)
	node, refusal := parse(data, name)
	if refusal != nil {
		*problems = append(*problems, refusal)
		return nil, false
	}
	doc := &document{file: name, problems: problems, misspelt: map[*yaml.Node]bool{}}
	p := &profileDocument{root: value{doc: doc, node: node}, result: &Profile{}}
	checkKeys(p.root, profileSchema)
	p.read()
	return p, len(*problems) == before
}

// read reads all of the profile.
func (p *profileDocument) read() {
	if format := p.root.get("format"); format.absent() {
		format.failMissing("write " + profileFormat)
	} else {
		word(format, profileFormat)
	}
	readVersion(p.root.get("version"))
	if size := p.root.get("micro_batch_size"); !size.absent() {
		p.result.MicroBatchSize, _ = size.whole(1, maxWidth)
	}
	p.readProvenance(p.root.get("provenance"))
	unit := p.root.get("unit")
	if unit.absent() {
		unit.failMissing("write ns, us, ms, s or tick")
		return
	}
	var ok bool
	p.result.Unit, ok = word(unit, Tick, Nanosecond, Microsecond, Millisecond, Second)
	if ok && p.readStages(p.root.get("stages")) && p.readLayers(p.root.get("layers")) {
		p.readLink(p.root.get("link"))
		p.readEdges(p.root.get("edges"))
	}
	if network := p.root.get("network"); !network.absent() {
		p.result.Network, _ = network.object()
	}
}

// readProvenance reads free text.
func (p *profileDocument) readProvenance(v value) {
	if v.absent() || !v.mapping("write texts such as {device: H200}") {
		return
	}
	p.result.Provenance = map[string]string{}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key := v.node.Content[i].Value
		item := value{doc: v.doc, node: v.node.Content[i+1], path: join(v.path, keyName(key))}
		text, ok := item.text()
		if !ok {
			return
		}
		p.result.Provenance[key] = text
	}
}
