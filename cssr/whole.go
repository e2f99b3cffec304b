package cssr

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// pipeline returns the draft in whole numbers.
func (d *draft) pipeline(cfg *config.Config) (*model.Pipeline, error) {
	pl := &model.Pipeline{
		Name:         cfg.Name,
		MicroBatches: cfg.MicroBatches,
		Routes:       d.routes,
		Blocking:     cfg.Communication.Blocking,
	}
	for s := range d.stages {
		from := &d.stages[s]
		stage := model.Stage{After: slices.Clone(from.after), Backward: from.mode}
		for _, r := range from.replicas {
			stage.Replicas = append(stage.Replicas, model.Replica{Devices: slices.Clone(r.devices)})
		}
		pl.Stages = append(pl.Stages, stage)
	}
	for _, device := range cfg.Devices {
		pl.Devices = append(pl.Devices, model.Device{Name: device.Name, Limit: model.Unlimited})
	}
	for _, name := range d.engines {
		pl.Devices = append(pl.Devices, model.Device{Name: name, Limit: model.Unlimited, Engine: true})
	}
	for i := range d.operations {
		pl.Operations = append(pl.Operations, d.operations[i].whole)
	}
	for _, set := range []func(*config.Config, *model.Pipeline) error{setFactors, d.setTimes, d.setSizes, d.checkStatic} {
		if err := set(cfg, pl); err != nil {
			return nil, err
		}
	}
	return pl, nil
}

// setFactors sets the factors of the micro-batches over their least common
// denominator.
func setFactors(cfg *config.Config, pl *model.Pipeline) error {
	one := config.NewDecimal(1)
	if !slices.ContainsFunc(cfg.Factors, func(f config.Decimal) bool { return !f.Equal(one) }) {
		return nil
	}
	s, key := scale{cfg: cfg, what: "factors"}, site{keys: "micro_batches[#]"}
	s.see(one.Rat(), 1, key)
	for key.index = range cfg.Factors {
		s.see(cfg.Factors[key.index].Rat(), 1, key)
	}
	pl.Factors = make([]int64, len(cfg.Factors))
	for key.index = range cfg.Factors {
		pl.Factors[key.index] = s.steps(cfg.Factors[key.index].Rat(), key)
	}
	pl.FactorScale = s.steps(one.Rat(), key)
	return s.err
}

// setTimes sets durations and latencies. A duration is whole with every factor,
// hence a multiple of the factor scale.
func (d *draft) setTimes(cfg *config.Config, pl *model.Pipeline) error {
	s, pairs := scale{cfg: cfg, what: "durations", unit: string(cfg.Unit)}, d.delays.sorted()
	for i := range d.stages {
		st := &d.stages[i]
		for r := range st.replicas {
			for k := range st.durations {
				s.see(st.on(&st.replicas[r], k), max(pl.FactorScale, 1), d.times.site(k, st.origin))
			}
		}
	}
	s.see(d.delays.base, 1, d.delays.other)
	for _, pair := range pairs {
		s.see(d.delays.pairs[pair], 1, d.delays.site(pair))
	}
	d.seeOperationTimes(&s, pl.FactorScale)
	for i := range d.stages {
		for r := range d.stages[i].replicas {
			pl.Stages[i].Replicas[r].Durations = d.wholeDurations(&s, i, r)
		}
	}
	pl.Latency = model.Time(s.steps(d.delays.base, d.delays.other))
	for _, pair := range pairs {
		t := model.Time(s.steps(d.delays.pairs[pair], d.delays.site(pair)))
		pl.Links = append(pl.Links, model.Link{From: pair[0], To: pair[1], Latency: t})
	}
	d.setOperationTimes(&s, pl)
	pl.TimeUnit = s.modelUnit(string(cfg.Unit))
	return s.err
}

// wholeDurations returns the durations of a replica of a stage in ticks.
func (d *draft) wholeDurations(s *scale, stage, replica int) model.Durations {
	st := &d.stages[stage]
	ticks := func(key int) model.Time {
		t := st.on(&st.replicas[replica], key)
		if t == nil {
			return model.Absent
		}
		return model.Time(s.steps(t, d.times.site(key, st.origin)))
	}
	return model.Durations{
		Forward:        ticks(forward),
		BackwardInput:  ticks(backwardInput),
		BackwardWeight: ticks(backwardWeight),
		BackwardFull:   ticks(backwardFull),
		Overlapped:     ticks(overlapped),
	}
}

// setSizes sets the memory of stages and the limits of devices.
func (d *draft) setSizes(cfg *config.Config, pl *model.Pipeline) error {
	s := scale{cfg: cfg, what: "sizes"}
	if cfg.SizesInBytes {
		s.unit = "B"
	}
	for i := range d.stages {
		for k, size := range d.stages[i].sizes {
			s.see(size, 1, d.sizes.site(k, d.stages[i].origin))
		}
	}
	d.seeOperationSizes(&s)
	for i, device := range cfg.Devices {
		s.see(limitOf(device), 1, limitSite(i))
	}
	for i := range d.stages {
		size := func(key int) model.Bytes {
			return model.Bytes(s.steps(d.stages[i].sizes[key], d.sizes.site(key, d.stages[i].origin)))
		}
		st := &pl.Stages[i]
		st.Activation, st.FreedByInput, st.Static = size(activation), size(freedByInput), size(static)
	}
	for i, device := range cfg.Devices {
		if limit := limitOf(device); limit != nil {
			pl.Devices[i].Limit = model.Bytes(s.steps(limit, limitSite(i)))
		}
	}
	d.setOperationSizes(&s, pl)
	pl.MemoryUnit = s.modelUnit(s.unit)
	return s.err
}

// limitOf returns the memory limit of a device, nil if it has none.
func limitOf(device config.Device) *big.Rat {
	if device.Limit == nil {
		return nil
	}
	return device.Limit.Rat()
}

// checkStatic tests that the static memory of any set of stages can be added up.
func (d *draft) checkStatic(cfg *config.Config, pl *model.Pipeline) error {
	room := model.Bytes(maxSteps)
	for s := range pl.Stages {
		if room -= pl.Stages[s].Static; room < 0 {
			last := d.stages[s].origin
			return d.sizes.site(static, last).place(cfg).Refuse(
				fmt.Sprintf("the stages up to stage %d hold more than 2^61 times the largest step in which all sizes are whole", last),
				"round the sizes to fewer digits", nil)
		}
	}
	return nil
}
