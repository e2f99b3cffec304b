package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/cpu"
	"github.com/flexpipe/flexpipe/runtime/emulated"
	"github.com/flexpipe/flexpipe/runtime/lower"
	"github.com/flexpipe/flexpipe/runtime/profile"
)

// stall ends a run in which nothing happens any more.
const stall = 2 * time.Minute

// An execution is a candidate with the devices that run it.
type execution struct {
	*candidate
	program *lower.Program
	network *network.Blueprint // nil on emulated devices
	backend pipert.Backend
	engine  *pipert.Engine
	perTick float64 // nanoseconds of a tick on emulated devices
}

// openCPU returns executions that train.
func openCPU(candidates []*candidate, seed uint64) ([]*execution, error) {
	return open(candidates, func(e *execution) (err error) {
		if e.network, err = e.blueprint(); err != nil {
			return err
		}
		e.backend, err = cpu.Open(e.program, e.network, cpu.Options{Seed: seed, Timed: true})
		return err
	})
}

// openEmulated returns executions that wait.
func openEmulated(candidates []*candidate, o emulated.Options) ([]*execution, error) {
	return open(candidates, func(e *execution) error {
		b, err := emulated.Open(e.program, o)
		if err != nil {
			return err
		}
		e.backend, e.perTick = b, b.PerTick()
		return nil
	})
}

// open lowers the candidates and opens their devices. On an error it closes what it has opened.
func open(candidates []*candidate, devices func(*execution) error) (list []*execution, err error) {
	for _, c := range candidates {
		e := &execution{candidate: c}
		if err = e.open(devices); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", c.name, err), closeAll(list))
		}
		list = append(list, e)
	}
	return list, nil
}

func (e *execution) open(devices func(*execution) error) (err error) {
	if e.program, err = lower.Lower(e.problem, e.plan); err != nil {
		return err
	}
	if _, err = e.program.Check(); err != nil {
		return err
	}
	if err = devices(e); err != nil {
		return err
	}
	e.engine, err = pipert.NewEngine(e.program, e.backend.Devices(), pipert.Options{Stall: stall, LockThreads: true})
	if err != nil {
		return errors.Join(err, e.backend.Close())
	}
	return nil
}

// closeAll closes in reverse, as emulated devices restore what they found.
func closeAll(list []*execution) error {
	var errs []error
	for i := len(list) - 1; i >= 0; i-- {
		errs = append(errs, list[i].backend.Close())
	}
	return errors.Join(errs...)
}

// contestants returns what runtime executes.
func contestants(list []*execution) []pipert.Contestant {
	all := make([]pipert.Contestant, len(list))
	for i, e := range list {
		all[i] = pipert.Contestant{Name: e.name, Engine: e.engine, Backend: e.backend}
	}
	return all
}

// An outcome is what a candidate took, and what it should have taken.
type outcome struct {
	*candidate
	run        *pipert.Run
	network    *network.Blueprint // nil on emulated devices
	prediction *pipert.Prediction
}

// A trial executes candidates in turn.
type trial struct {
	rows  []*outcome
	costs *profile.Costs // nil on emulated devices
}

// repeats says how often to execute.
type repeats struct {
	warmup, iterations int
}

func (r repeats) settings() pipert.Settings {
	return pipert.Settings{Warmup: r.warmup, Iterations: r.iterations}
}

// train executes candidates on the cores of this machine, with gauges in between that measure
// the costs by which each is predicted. The seed is that of parameters and data.
func train(ctx context.Context, cfg *config.Config, candidates []*candidate, r repeats, seed uint64) (t *trial, err error) {
	measuring, err := gauges(ctx, cfg, candidates)
	if err != nil {
		return nil, err
	}
	list, err := openCPU(append(measuring, candidates...), seed)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll(list)) }()
	runs, err := pipert.Compare(ctx, contestants(list), r.settings())
	if err != nil {
		return nil, err
	}
	n := len(measuring)
	costs, err := gather(list[:n], runs[:n])
	if err != nil {
		return nil, err
	}
	return predicted(list[n:], runs[n:], costs)
}

// gather puts together what gauges have measured.
func gather(list []*execution, runs []*pipert.Run) (*profile.Costs, error) {
	var measured []profile.Measured
	for i, e := range list {
		measured = append(measured, profile.Measured{
			Program: e.program, Backend: e.backend.(pipert.Profiler), Run: runs[i],
		})
	}
	return profile.Gather(measured)
}

// predicted returns the outcomes of executions by costs.
func predicted(list []*execution, runs []*pipert.Run, costs *profile.Costs) (*trial, error) {
	t := &trial{costs: costs}
	for i, e := range list {
		p, err := costs.Predict(e.problem, e.plan, e.network)
		if err != nil {
			return nil, err
		}
		t.rows = append(t.rows, &outcome{e.candidate, runs[i], e.network, p})
	}
	return t, nil
}

// emulate executes candidates on devices that wait.
func emulate(ctx context.Context, candidates []*candidate, o emulated.Options, r repeats) (t *trial, err error) {
	list, err := openEmulated(candidates, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll(list)) }()
	runs, err := pipert.Compare(ctx, contestants(list), r.settings())
	if err != nil {
		return nil, err
	}
	return predictedByPlan(list, runs)
}

// predictedByPlan returns the outcomes of executions by the costs of their plans.
func predictedByPlan(list []*execution, runs []*pipert.Run) (*trial, error) {
	t := &trial{}
	for i, e := range list {
		p, err := pipert.Predict(e.problem, e.plan, e.perTick)
		if err != nil {
			return nil, err
		}
		t.rows = append(t.rows, &outcome{e.candidate, runs[i], nil, p})
	}
	return t, nil
}

// error returns the relative error of the prediction.
func (o *outcome) error() float64 {
	return pipert.PredictionError(o.prediction.Seconds(), o.run.Makespans().Median)
}

// row returns the outcome of a name, nil if there is none.
func (t *trial) row(name string) *outcome {
	for _, o := range t.rows {
		if o.name == name {
			return o
		}
	}
	return nil
}

// ratios returns how many times as long as o the base takes, measured and predicted.
func ratios(base, o *outcome) (measured pipert.Quantiles, predicted float64) {
	return pipert.Ratio(base.run, o.run), base.prediction.Seconds() / o.prediction.Seconds()
}

// fidelity is how far predictions of a trial can be trusted.
func (t *trial) fidelity() pipert.Fidelity {
	var predictions []*pipert.Prediction
	var runs []*pipert.Run
	for _, o := range t.rows {
		predictions, runs = append(predictions, o.prediction), append(runs, o.run)
	}
	return pipert.NewFidelity(predictions, runs)
}

// tokens returns tokens in a second, with data and optimizer step: of an mlp samples.
func (o *outcome) tokens() (float64, error) {
	net, err := o.network.Network()
	if err != nil {
		return 0, err
	}
	_, tokens := net.MicroBatch()
	return float64(o.problem.MicroBatches()*tokens) / o.run.StepSeconds().Median, nil
}

// kindError is how far predicted operations of a kind are from those of a run.
type kindError struct {
	kind string
	bias float64 // (predicted - measured) / measured, of all time in them
}

// kindErrors returns the errors by kind, over all plans of a trial. Measured is what an iteration
// spends in the kind, the median over iterations.
func (t *trial) kindErrors() (list []kindError) {
	want, got := map[string]float64{}, map[string]float64{}
	var kinds []string
	for _, o := range t.rows {
		spent := map[string][]float64{} // by kind and record
		for row := range o.problem.Rows {
			kind := o.problem.Kinds[o.problem.Rows[row].Kind].Name
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
			if spent[kind] == nil {
				spent[kind] = make([]float64, len(o.run.Records))
			}
			want[kind] += float64(o.add(row, spent[kind])) * o.prediction.RowNanoseconds(row)
		}
		for kind, samples := range spent {
			got[kind] += pipert.NewQuantiles(samples).Median
		}
	}
	for _, kind := range kinds {
		if got[kind] > 0 {
			list = append(list, kindError{kind, pipert.PredictionError(want[kind], got[kind])})
		}
	}
	return list
}

// add adds what the operations of a row took to spent, by record in nanoseconds, and returns how
// many of them the plan holds.
func (o *outcome) add(row int, spent []float64) (operations int) {
	first := int(o.problem.Base(row))
	for i, r := range o.run.Records {
		for op := first; op < first+o.problem.Count(row); op++ {
			if r.Start[op] < 0 {
				continue
			}
			spent[i] += float64(r.End[op] - r.Start[op])
			if i == 0 {
				operations++
			}
		}
	}
	return operations
}
