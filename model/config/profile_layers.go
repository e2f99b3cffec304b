package config

import "iter"

// LayerProfile is what was measured of one layer of a network, without the layers beside
// it on its stage.
type LayerProfile struct {
	Part      string         `json:"part,omitzero"` // of a network of several, such as encoder
	Name      string         `json:"name"`          // within the part, such as block 3
	Durations LayerDurations `json:"durations"`
	Memory    LayerMemory    `json:"memory"`
}

// LayerDurations holds a measurement per kind of operation of a layer for a micro-batch.
// A kind that the layer does not have, or that was not measured, is nil. Recomputation is
// not part of BackwardInput.
type LayerDurations struct {
	Forward            Measurement  `json:"forward"`
	BackwardInput      *Measurement `json:"backward_input,omitzero"`
	BackwardWeight     *Measurement `json:"backward_weight,omitzero"`
	RecomputeSelective *Measurement `json:"recompute_selective,omitzero"` // set if Memory.Selective is
	RecomputeFull      *Measurement `json:"recompute_full,omitzero"`      // set if Memory.Full is
}

// LayerMemory is what a layer keeps for a micro-batch, in whole bytes.
type LayerMemory struct {
	Activation int64  `json:"activation"`         // from forward to backward, nothing computed again
	Retained   int64  `json:"retained"`           // from backward input to backward weight
	Selective  *int64 `json:"selective,omitzero"` // in place of Activation with that recomputation
	Full       *int64 `json:"full,omitzero"`      // in place of Activation with that recomputation
	Work       int64  `json:"work,omitzero"`      // scratch, for the moment of an operation

	SelectiveWork int64 `json:"selective_work,omitzero"` // further scratch with that recomputation; 0 if not known
	FullWork      int64 `json:"full_work,omitzero"`      // further scratch with that recomputation; 0 if not known
}

// LinkProfile is what a transfer between two devices took.
type LinkProfile struct {
	Latency   Decimal  `json:"latency"`            // whatever the size
	Bandwidth *Decimal `json:"bandwidth,omitzero"` // bytes per second; nil if size does not matter
}

// Limits of a layer. They keep the sums over a network within 64 bits.
const (
	maxLayerHours = 1
	maxLayerBytes = 1 << 45
)

// readLayers reads the profile of each layer.
func (p *profileDocument) readLayers(v value) bool {
	const remedy = `write a list such as [{"name": "block 0", "durations": {"forward": {"median": 10}}, "memory": {"activation": 0, "retained": 0}}]`
	if v.absent() {
		return true
	}
	items, ok := v.items(remedy)
	if !ok {
		return false
	}
	if len(items) == 0 {
		v.fail("a list for no layer", "give the layers of a network, or leave it out")
		return false
	}
	p.result.Layers = make([]LayerProfile, len(items))
	for i, item := range items {
		if !item.mapping("write the keys name, durations and memory below it") || !p.readLayer(item, &p.result.Layers[i]) {
			return false
		}
	}
	return true
}

// readLayer reads the profile of one layer.
func (p *profileDocument) readLayer(v value, l *LayerProfile) (ok bool) {
	name, part := v.get("name"), v.get("part")
	if name.absent() {
		name.failMissing("write the name of the layer such as block 0")
		return false
	}
	if l.Name, ok = name.text(); !ok {
		return false
	}
	if !part.absent() {
		if l.Part, ok = part.text(); !ok {
			return false
		}
	}
	return p.readLayerDurations(v.get("durations"), &l.Durations) && l.readMemory(v.get("memory")) && l.recomputes(v)
}

// readLayerDurations reads a measurement per kind of operation of a layer.
func (p *profileDocument) readLayerDurations(v value, result *LayerDurations) bool {
	return readKinds(v, "layer", &result.Forward, result.optional(), p.readLayerMeasurement)
}

// optional yields the places of the measurements that a layer may lack, by key.
func (t *LayerDurations) optional() iter.Seq2[string, **Measurement] {
	return func(yield func(string, **Measurement) bool) {
		_ = yield("backward_input", &t.BackwardInput) &&
			yield("backward_weight", &t.BackwardWeight) &&
			yield("recompute_selective", &t.RecomputeSelective) &&
			yield("recompute_full", &t.RecomputeFull)
	}
}

// readLayerMeasurement reads a measurement that may be absent, in physical time.
func (p *profileDocument) readLayerMeasurement(v value) (*Measurement, bool) {
	m, ok := p.readMeasurement(v)
	if !ok || m == nil {
		return m, ok
	}
	second, physical := p.result.Unit.Seconds()
	if physical && m.Median.Mul(second).Cmp(NewDecimal(3600*maxLayerHours)) > 0 {
		v.get("median").fail("a layer that takes more than an hour", "check the unit of the profile")
		return nil, false
	}
	return m, true
}

// readMemory reads what the layer keeps.
func (l *LayerProfile) readMemory(v value) bool {
	if v.absent() {
		v.failMissing(`write sizes such as {"activation": 4096, "retained": 2048}`)
		return false
	}
	if !v.mapping("write keys such as activation below it") {
		return false
	}
	for _, entry := range []struct {
		key string
		to  *int64
	}{{"activation", &l.Memory.Activation}, {"retained", &l.Memory.Retained}} {
		size, ok := readLayerSize(v.get(entry.key))
		if ok && size == nil {
			v.get(entry.key).failMissing("write the bytes, 0 if there are none")
			ok = false
		}
		if !ok {
			return false
		}
		*entry.to = *size
	}
	for _, entry := range []struct {
		key string
		to  *int64
	}{{"work", &l.Memory.Work}, {"selective_work", &l.Memory.SelectiveWork}, {"full_work", &l.Memory.FullWork}} {
		size, ok := readLayerSize(v.get(entry.key))
		if !ok {
			return false
		}
		if size != nil {
			*entry.to = *size
		}
	}
	var ok bool
	if l.Memory.Selective, ok = readLayerSize(v.get("selective")); !ok {
		return false
	}
	l.Memory.Full, ok = readLayerSize(v.get("full"))
	return ok
}

// readLayerSize reads whole bytes; they are nil when absent.
func readLayerSize(v value) (*int64, bool) {
	if v.absent() {
		return nil, true
	}
	size, _, ok := v.signedSize()
	if size, ok = v.notNegative(size, ok); !ok {
		return nil, false
	}
	exact := size.Rat()
	switch {
	case !exact.IsInt():
		v.fail(describe(v.node)+" is not a whole number of bytes", "round it up")
		return nil, false
	case size.Cmp(NewDecimal(maxLayerBytes)) > 0:
		v.fail(describe(v.node)+" is more than a layer can keep", "write at most 32TiB")
		return nil, false
	}
	bytes := exact.Num().Int64()
	return &bytes, true
}

// recomputes fails unless a recomputation has both a duration and a size, or neither.
func (l *LayerProfile) recomputes(v value) bool {
	for _, way := range []struct {
		name     string
		duration *Measurement
		size     *int64
	}{
		{"selective", l.Durations.RecomputeSelective, l.Memory.Selective}, {"full", l.Durations.RecomputeFull, l.Memory.Full},
	} {
		duration, size := v.get("durations").get("recompute_"+way.name), v.get("memory").get(way.name)
		switch {
		case (way.duration == nil) == (way.size == nil):
			continue
		case way.duration == nil:
			size.fail("there is no duration of the recomputation that it is kept for", "give durations.recompute_"+way.name+", or leave it out")
		default:
			duration.fail("there is no size of what is kept for it", "give memory."+way.name+", or leave it out")
		}
		return false
	}
	return true
}

// readLink reads what a transfer took.
func (p *profileDocument) readLink(v value) {
	const remedy = `write a mapping such as {"latency": 30, "bandwidth": 5e9}`
	if v.absent() || !v.mapping(remedy) {
		return
	}
	latency, bandwidth := v.get("latency"), v.get("bandwidth")
	if latency.absent() {
		latency.failMissing("write what a transfer takes whatever its size, 0 if nothing")
		return
	}
	link := &LinkProfile{}
	var ok bool
	if link.Latency, ok = latency.duration(p.result.Unit); !ok {
		return
	}
	if !bandwidth.absent() {
		rate, ok := bandwidth.positive()
		if !ok {
			return
		}
		link.Bandwidth = &rate
	}
	p.result.Link = link
}
