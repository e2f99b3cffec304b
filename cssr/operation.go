package cssr

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// draftOperation is an operation of the configuration's own in exact numbers.
type draftOperation struct {
	entry, nth int // which entry of the configuration, and which of its stages; -1 for passes over the vocabulary
	whole      model.Operation
	after      []draftWait
	before     []draftWait

	duration, takes, gives *big.Rat
}

// draftWait are the operations that one entry of after or before names.
type draftWait struct {
	refs []model.Ref // without lag
	lag  *big.Rat
	at   site
}

// site returns the place of a number of the operation.
func (o *draftOperation) site(key string) site {
	if o.entry < 0 {
		return site{keys: "model"}
	}
	return site{fmt.Sprintf("operations[%d].%s[#]", o.entry, key), o.nth}
}

// scaled reports whether the factors of the micro-batches scale the operation.
func (o *draftOperation) scaled() bool { return !o.whole.Fixed && !o.whole.Single }

// addOperations adds the operations of the configuration's own, one beside each of
// their stages, and the engines on which they run. The chunks of a stage share what
// an operation beside it takes.
func (d *draft) addOperations(cfg *config.Config, l *layout) error {
	if err := checkSplitOperations(cfg, l); err != nil {
		return err
	}
	e := newEngines(cfg, l)
	d.engines = e.names
	d.owned = ownedBy(cfg, l)
	share := big.NewRat(1, int64(l.chunks))
	for i := range cfg.Operations {
		o := &cfg.Operations[i]
		for nth := range len(o.Duration) {
			for _, stage := range l.stagesBeside(o, nth) {
				own := draftOperation{entry: i, nth: nth,
					duration: product(&o.Duration[nth], share), takes: product(&o.Takes[nth], share), gives: product(&o.Gives[nth], share),
					whole: model.Operation{Name: o.Name, Letter: o.Letter, Stage: stage, Single: o.Once, Fixed: o.Fixed, Devices: e.of(o, stage, l)}}
				if err := d.settle(cfg, l, o, &own); err != nil {
					return err
				}
				d.operations = append(d.operations, own)
			}
		}
	}
	return nil
}

// stagesBeside returns the stages of the layout that are made of one stage of an
// operation; -1 if it is beside none.
func (l *layout) stagesBeside(o *config.Operation, nth int) []int {
	if o.Stages == nil {
		return []int{-1}
	}
	stages := make([]int, l.chunks)
	for chunk := range stages {
		stages[chunk] = l.dealt[o.Stages[nth]*l.chunks+chunk]
	}
	return stages
}

// ownedBy returns the stages beside which the operations of each kind run.
func ownedBy(cfg *config.Config, l *layout) map[string]map[int]bool {
	owned := map[string]map[int]bool{}
	for i := range cfg.Operations {
		o := &cfg.Operations[i]
		if owned[o.Name] == nil {
			owned[o.Name] = map[int]bool{}
		}
		for nth := range o.Stages {
			for _, stage := range l.stagesBeside(o, nth) {
				owned[o.Name][stage] = true
			}
		}
	}
	return owned
}

// entryOf returns the entry of the configuration that an operation of its pipeline
// comes from.
func entryOf(cfg *config.Config, chunks, operation int) int {
	for i := range cfg.Operations {
		if operation -= len(cfg.Operations[i].Duration) * chunks; operation < 0 {
			return i
		}
	}
	return len(cfg.Operations) - 1
}

// checkSplitOperations tests whether operations can be divided with their stages:
// each is beside all stages, and waits for the chunk that it is beside.
func checkSplitOperations(cfg *config.Config, l *layout) error {
	if l.chunks == 1 {
		return nil
	}
	const remedy = "write the chunks as stages"
	for i := range cfg.Operations {
		o := &cfg.Operations[i]
		if len(o.Stages) != cfg.Stages {
			return splitError(l.chunks, o.Name+" is not beside all stages, so it is not known how to divide it", remedy).
				at(cfg.Locate(fmt.Sprintf("operations[%d].stages", i)))
		}
		for _, list := range []struct {
			key   string
			waits []config.Wait
		}{{"after", o.After}, {"before", o.Before}} {
			for k, w := range list.waits {
				if w.Stages != config.SameStage {
					return splitError(l.chunks, o.Name+" waits across stages, so it is not known for which chunk", remedy).
						at(cfg.Locate(fmt.Sprintf("operations[%d].%s[%d]", i, list.key, k)))
				}
			}
		}
	}
	return nil
}

// settle scales the duration of an operation by the slowdown of its devices, and
// finds out what it waits for.
func (d *draft) settle(cfg *config.Config, l *layout, o *config.Operation, own *draftOperation) error {
	factor, err := slowdownOf(cfg, l, o, own)
	if err != nil {
		return err
	}
	own.duration = new(big.Rat).Mul(own.duration, factor)
	if own.after, err = d.waits(cfg, l, own, "after", o.After); err != nil {
		return err
	}
	own.before, err = d.waits(cfg, l, own, "before", o.Before)
	return err
}

// slowdownOf returns the largest slowdown among the devices of an operation, 1 for
// engines. One operation serves the micro-batches of all routes, so that its engines
// and its duration must not depend on the route.
func slowdownOf(cfg *config.Config, l *layout, o *config.Operation, own *draftOperation) (*big.Rat, error) {
	refuse := func(key, problem, remedy string) (*big.Rat, error) {
		return nil, cfg.Locate(fmt.Sprintf("operations[%d]%s", own.entry, key)).Refuse(problem, remedy, nil)
	}
	stage := own.whole.Stage
	switch {
	case o.Engine != "" && !o.Once && len(l.everyDevice(stage)) > len(l.devices[stage]):
		return refuse(".engine", fmt.Sprintf("the routes through stage %d use different devices, so it is not known beside which of them it works", stage),
			"write link, which is one for all routes, or give it once: true")
	case o.Engine != "" || o.Link != "":
		return big.NewRat(1, 1), nil
	case o.Devices != nil:
		return slowest(cfg.Devices, o.Devices).Rat(), nil
	}
	most := slowest(cfg.Devices, l.devices[stage])
	for _, devices := range l.replicas(stage)[1:] {
		other := slowest(cfg.Devices, devices)
		if !o.Once && !other.Equal(most) {
			return refuse("", fmt.Sprintf("on the routes through stage %d its devices have the slowdowns %s and %s, and it has one duration", stage, most, other),
				"list the devices that it occupies")
		}
		if other.Cmp(most) > 0 {
			most = other
		}
	}
	return most.Rat(), nil
}

// waits returns what entries of after or before mean for an operation.
func (d *draft) waits(cfg *config.Config, l *layout, own *draftOperation, key string, entries []config.Wait) ([]draftWait, error) {
	var list []draftWait
	for k, w := range entries {
		stages, known := d.stagesOf(l, w, own.whole.Stage)
		if !known {
			return nil, cfg.Locate(fmt.Sprintf("operations[%d].%s[%d]", own.entry, key, k)).Refuse(
				fmt.Sprintf("no stage has a %s", w.Kind), "leave it out", nil)
		}
		wait := draftWait{lag: w.Lag.Rat(), at: site{keys: fmt.Sprintf("operations[%d].%s[#].lag", own.entry, key), index: k}}
		for _, stage := range stages {
			wait.refs = append(wait.refs, model.Ref{Kind: w.Kind, Stage: stage})
		}
		list = append(list, wait)
	}
	return list, nil
}

// stagesOf returns the stages that a wait of an operation beside a stage means; -1
// is none. known is false if it means all stages that have a kind, and there are none.
func (d *draft) stagesOf(l *layout, w config.Wait, own int) (stages []int, known bool) {
	switch w.Stages {
	case config.NoStage:
		return []int{-1}, true
	case config.AtStage:
		return []int{l.dealt[w.Stage]}, true
	case config.PreviousStages:
		return l.after[own], true
	case config.NextStages:
		for s, after := range l.after {
			if slices.Contains(after, own) {
				stages = append(stages, s)
			}
		}
		return stages, true
	case config.AllStages:
		for s := range d.stages {
			if d.has(s, w.Kind) {
				stages = append(stages, s)
			}
		}
		return stages, len(stages) > 0
	}
	return []int{own}, true
}

// has reports whether a stage has an operation of a kind, as a [model.Ref] names it.
func (d *draft) has(s int, kind string) bool {
	st := &d.stages[s]
	input, weight := st.durations[backwardInput] != nil, st.durations[backwardWeight] != nil
	full := st.durations[backwardFull] != nil && input == weight && (!input || st.mode != model.Split)
	if full && st.mode == model.Fused {
		input, weight = false, false
	}
	switch kind {
	case durationKeys[forward]:
		return true
	case durationKeys[backwardInput]:
		return input || full
	case durationKeys[backwardWeight]:
		return weight || full
	case durationKeys[backwardFull]:
		return full
	case model.Backward:
		return input || weight || full
	}
	return d.owned[kind][s]
}

// seeOperationTimes makes the step of the durations divide those of the operations.
func (d *draft) seeOperationTimes(s *scale, factorScale int64) {
	for i := range d.operations {
		o, parts := &d.operations[i], int64(1)
		if o.scaled() {
			parts = max(factorScale, 1)
		}
		s.see(o.duration, parts, o.site("duration"))
		for _, w := range slices.Concat(o.after, o.before) {
			s.see(w.lag, 1, w.at)
		}
	}
}

// setOperationTimes sets durations and lags.
func (d *draft) setOperationTimes(s *scale, pl *model.Pipeline) {
	refs := func(waits []draftWait) (list []model.Ref) {
		for _, w := range waits {
			lag := model.Time(s.steps(w.lag, w.at))
			for _, ref := range w.refs {
				ref.Lag = lag
				list = append(list, ref)
			}
		}
		return list
	}
	for i := range d.operations {
		o, whole := &d.operations[i], &pl.Operations[i]
		whole.Duration = model.Time(s.steps(o.duration, o.site("duration")))
		whole.After, whole.Before = refs(o.after), refs(o.before)
	}
}

// seeOperationSizes makes the step of the sizes divide those of the operations.
func (d *draft) seeOperationSizes(s *scale) {
	for i := range d.operations {
		o := &d.operations[i]
		s.see(o.takes, 1, o.site("takes"))
		s.see(o.gives, 1, o.site("gives"))
	}
}

// setOperationSizes sets what the operations take and give back.
func (d *draft) setOperationSizes(s *scale, pl *model.Pipeline) {
	for i := range d.operations {
		o, whole := &d.operations[i], &pl.Operations[i]
		whole.Takes = model.Bytes(s.steps(o.takes, o.site("takes")))
		whole.Gives = model.Bytes(s.steps(o.gives, o.site("gives")))
	}
}

// refuseCompiled places an error of [model.Compile] at the operation that it is about.
func refuseCompiled(cfg *config.Config, choices Choices, err error) error {
	var own *model.OperationError
	var of *model.PipelineError
	switch {
	case errors.As(err, &own):
		entry := entryOf(cfg, max(choices.SplitStages, 1), own.Index)
		return cfg.Locate(fmt.Sprintf("operations[%d]", entry)).Refuse(own.Problem, own.Remedy, err)
	case errors.As(err, &of) && of.Stage >= 0 && len(cfg.Operations) > 0:
		return cfg.Locate("operations").Refuse(err.Error(), "", err)
	}
	return cfg.Locate().Refuse(err.Error(), "", err)
}
