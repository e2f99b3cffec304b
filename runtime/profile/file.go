package profile

import (
	"errors"
	"math"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// File returns the costs as a profile of the stages of a blueprint, whose network was measured,
// and of all its layers. Times are written in nanoseconds, sizes in bytes. stages are those that
// the blueprint's stages took, see [TimesOfStages].
func (c *Costs) File(b *network.Blueprint, stages []StageTimes, provenance map[string]string) (*config.Profile, error) {
	costs, err := c.Stages(b)
	if err != nil {
		return nil, err
	}
	text, err := b.Encode()
	if err != nil {
		return nil, err
	}
	parts, err := b.StageParts()
	if err != nil {
		return nil, err
	}
	file := &config.Profile{
		Unit: config.Nanosecond, MicroBatchSize: b.MicroBatchSize, Network: config.Object(text),
		Link: &config.LinkProfile{Latency: whole(c.Hops.Median)}, Provenance: provenance,
	}
	for s := range costs {
		file.Stages = append(file.Stages, stageProfile(&costs[s], stages[s]))
	}
	for i := range c.Layers {
		file.Layers = append(file.Layers, c.layerProfile(i, parts[c.Layers[i].Part].Name))
	}
	return file, nil
}

// stageProfile returns the profile of a stage.
func stageProfile(costs *pipert.StageCosts, times StageTimes) config.StageProfile {
	sum := costs.Activation - costs.FreedByInput
	p := config.StageProfile{Memory: &config.MemoryProfile{
		Activation: config.NewDecimal(costs.Activation), FreedByBackwardInput: config.NewDecimal(costs.FreedByInput),
		FreedByBackwardWeight: config.NewDecimal(sum), Static: config.NewDecimal(costs.Static + costs.Work),
	}}
	for i := range times.Times {
		t := &times.Times[i]
		m := measurement(t.Contended, t.Alone)
		switch t.Kind {
		case model.Forward.String():
			p.Durations.Forward = *m
		case model.BackwardInput.String():
			p.Durations.BackwardInput = m
		case model.BackwardWeight.String():
			p.Durations.BackwardWeight = m
		}
	}
	return p
}

// layerProfile returns the profile of a layer.
func (c *Costs) layerProfile(i int, part string) config.LayerProfile {
	l, solo := &c.Layers[i], &pipert.LayerCosts{}
	if c.Solo != nil {
		solo = &c.Solo[i]
	}
	none := network.RecomputeNone
	p := config.LayerProfile{
		Part: part, Name: l.Name,
		Durations: config.LayerDurations{
			Forward:        *measurement(l.Forward, solo.Forward),
			BackwardInput:  measurement(l.BackwardInput[none], solo.BackwardInput[none]),
			BackwardWeight: measurement(l.BackwardWeight, solo.BackwardWeight),
		},
		Memory: config.LayerMemory{Activation: l.Activation, Retained: l.Retained, Work: l.Work,
			SelectiveWork: l.SelectiveWork, FullWork: l.FullWork},
	}
	p.Durations.RecomputeSelective, p.Memory.Selective = beyond(l.BackwardInput[none], l.BackwardInput[network.RecomputeSelective], l.Selective)
	p.Durations.RecomputeFull, p.Memory.Full = beyond(l.BackwardInput[none], l.BackwardInput[network.RecomputeFull], l.Full)
	return p
}

// beyond returns what recomputation adds to a backward input, and what is kept for it; nil if
// it was not measured.
func beyond(none, with pipert.Quantiles, bytes int64) (*config.Measurement, *int64) {
	if with.N == 0 {
		return nil, nil
	}
	return &config.Measurement{Median: whole(max(0, with.Median-none.Median)), Samples: with.N}, &bytes
}

// measurement returns quantiles in nanoseconds; nil for none.
func measurement(q, alone pipert.Quantiles) *config.Measurement {
	if q.N == 0 {
		return nil
	}
	low, high := whole(q.P10), whole(q.P90)
	m := &config.Measurement{Median: whole(q.Median), P10: &low, P90: &high, Samples: q.N}
	if alone.N > 0 {
		median := whole(alone.Median)
		m.Alone = &median
	}
	return m
}

// whole returns a number of nanoseconds, rounded.
func whole(ns float64) config.Decimal { return config.NewDecimal(int64(math.Round(ns))) }

// FromFile returns the costs that a profile holds. It returns an error for one without layers
// or transfers, in ticks, or whose messages take longer the larger they are: [Costs] have one time
// for all.
func FromFile(p *config.Profile) (*Costs, error) {
	switch {
	case p.Layers == nil:
		return nil, errors.New("the profile has no layers; flexpipe profile measures them")
	case p.Link == nil:
		return nil, errors.New("the profile has no link; flexpipe profile measures it")
	case p.Link.Bandwidth != nil:
		return nil, errors.New("the link of the profile has a bandwidth, and predictions take all messages to last equally long; " +
			"leave link.bandwidth out, and let link.latency be what a message takes in all")
	case p.Unit == config.Tick:
		return nil, errors.New("the profile is in ticks, which are no physical time")
	}
	latency := config.Measurement{Median: p.Link.Latency, Samples: 1}
	c := &Costs{Hops: quantiles(p, &latency)}
	part, last := 0, p.Layers[0].Part
	for i := range p.Layers {
		from := &p.Layers[i]
		if from.Part != last {
			part, last = part+1, from.Part
		}
		c.Layers = append(c.Layers, layerCosts(p, from, part))
	}
	return c, nil
}

// layerCosts returns the costs of a layer in a profile.
func layerCosts(p *config.Profile, from *config.LayerProfile, part int) pipert.LayerCosts {
	d, m := &from.Durations, &from.Memory
	input := quantiles(p, d.BackwardInput)
	l := pipert.LayerCosts{
		Part: part, Name: from.Name,
		Forward: quantiles(p, &d.Forward), BackwardWeight: quantiles(p, d.BackwardWeight),
		Activation: m.Activation, Retained: m.Retained, Work: m.Work,
		SelectiveWork: m.SelectiveWork, FullWork: m.FullWork,
	}
	l.BackwardInput[network.RecomputeNone] = input
	l.BackwardInput[network.RecomputeSelective], l.Selective = with(p, input, d.RecomputeSelective, m.Selective)
	l.BackwardInput[network.RecomputeFull], l.Full = with(p, input, d.RecomputeFull, m.Full)
	return l
}

// with returns a backward input with recomputation, and what is kept for it.
func with(p *config.Profile, input pipert.Quantiles, recompute *config.Measurement, bytes *int64) (pipert.Quantiles, int64) {
	if recompute == nil || bytes == nil {
		return pipert.Quantiles{}, 0
	}
	more := p.Nanoseconds(recompute)
	return pipert.Quantiles{N: max(1, recompute.Samples), P10: input.P10 + more, Median: input.Median + more, P90: input.P90 + more}, *bytes
}

// quantiles returns a measurement in nanoseconds; one that there is not took no time.
func quantiles(p *config.Profile, m *config.Measurement) pipert.Quantiles {
	if m == nil {
		return pipert.Quantiles{N: 1}
	}
	median := p.Nanoseconds(m)
	q := pipert.Quantiles{N: max(1, m.Samples), P10: median, Median: median, P90: median}
	if m.P10 != nil {
		q.P10 = p.Nanoseconds(&config.Measurement{Median: *m.P10})
	}
	if m.P90 != nil {
		q.P90 = p.Nanoseconds(&config.Measurement{Median: *m.P90})
	}
	return q
}

// StageTimes are what the operations of a stage took.
type StageTimes struct {
	Stage int
	Times []KindTimes // by kind, in the order of the problem's rows
}

// KindTimes are what the operations of one kind took, in nanoseconds: while other devices were
// at work, and alone.
type KindTimes struct {
	Kind             string
	Contended, Alone pipert.Quantiles
}

// TimesOfStages returns what the operations of each stage took in two runs of a problem, one with
// all devices at work at once, one with an operation at a time. Of replicas the first counts.
func TimesOfStages(p *model.Problem, contended, alone []*pipert.Record) []StageTimes {
	stages := make([]StageTimes, len(p.Pipeline.Stages))
	for s := range stages {
		stages[s].Stage = s
	}
	at, solo := pipert.RowTimes(p, contended), pipert.RowTimes(p, alone)
	for row := range p.Rows {
		r := &p.Rows[row]
		if r.Stage < 0 || r.Route > 0 || at[row].N == 0 {
			continue
		}
		stages[r.Stage].Times = append(stages[r.Stage].Times, KindTimes{p.Kinds[r.Kind].Name, at[row], solo[row]})
	}
	return stages
}
