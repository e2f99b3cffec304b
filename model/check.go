package model

import (
	"errors"
	"fmt"
	"slices"
)

// PipelineError reports what a pipeline cannot have.
type PipelineError struct {
	Pipeline      string // its name, may be empty
	Stage, Device int    // what is wrong there; -1 if it is neither a stage nor a device
	Err           error
}

func (e *PipelineError) Error() string {
	text := e.Err.Error()
	switch {
	case e.Stage >= 0:
		text = fmt.Sprintf("stage %d: %s", e.Stage, text)
	case e.Device >= 0:
		text = fmt.Sprintf("device %d: %s", e.Device, text)
	}
	if e.Pipeline != "" {
		text = fmt.Sprintf("pipeline %q: %s", e.Pipeline, text)
	}
	return text
}

// Unwrap returns Err.
func (e *PipelineError) Unwrap() error { return e.Err }

func atStage(s int, err error) error { return &PipelineError{Stage: s, Device: -1, Err: err} }

func atDevice(d int, err error) error { return &PipelineError{Stage: -1, Device: d, Err: err} }

// refuse returns a PipelineError about pl.
func (pl *Pipeline) refuse(err error) error {
	var e *PipelineError
	if !errors.As(err, &e) {
		e = &PipelineError{Stage: -1, Device: -1, Err: err}
	}
	e.Pipeline = pl.Name
	return e
}

// check tests the form of a pipeline and returns its stages in topological
// order of the stage graph.
func (pl *Pipeline) check() ([]int, error) {
	if err := pl.checkCounts(); err != nil {
		return nil, err
	}
	routes := pl.NumRoutes()
	for s := range pl.Stages {
		if err := pl.checkStage(s, routes); err != nil {
			return nil, atStage(s, err)
		}
	}
	if err := pl.checkOperations(); err != nil {
		return nil, err
	}
	if err := pl.checkLinks(); err != nil {
		return nil, err
	}
	order, err := pl.stageOrder()
	if err != nil {
		return nil, err
	}
	return order, pl.checkGradients()
}

func (pl *Pipeline) checkCounts() error {
	switch {
	case len(pl.Devices) == 0:
		return fmt.Errorf("no devices")
	case len(pl.Stages) == 0:
		return fmt.Errorf("no stages")
	case pl.MicroBatches < 1:
		return fmt.Errorf("%d micro-batches: at least 1 is needed", pl.MicroBatches)
	case pl.Factors != nil && len(pl.Factors) != pl.MicroBatches:
		return fmt.Errorf("%d factors for %d micro-batches", len(pl.Factors), pl.MicroBatches)
	case pl.Factors != nil && (pl.FactorScale < 1 || slices.Min(pl.Factors) < 1):
		return fmt.Errorf("micro-batch factors must be positive")
	case pl.Routes != nil && len(pl.Routes) != pl.MicroBatches:
		return fmt.Errorf("%d routes for %d micro-batches", len(pl.Routes), pl.MicroBatches)
	case int(pl.Objective) >= len(objectiveNames):
		return fmt.Errorf("unknown objective %d", pl.Objective)
	}
	routes := pl.NumRoutes()
	for m, r := range pl.Routes {
		if r < 0 || r >= routes {
			return fmt.Errorf("micro-batch %d has route %d: there are %d", m, r, routes)
		}
	}
	for d, dev := range pl.Devices {
		if dev.Limit < 0 {
			return atDevice(d, fmt.Errorf("memory limit %d is negative", dev.Limit))
		}
		if dev.Engine && dev.Limit != Unlimited {
			return atDevice(d, fmt.Errorf("an engine has no memory, and so no limit"))
		}
	}
	if err := pl.TimeUnit.Validate(); err != nil {
		return err
	}
	return pl.MemoryUnit.Validate()
}

func (pl *Pipeline) checkStage(s, routes int) error {
	st := &pl.Stages[s]
	if n := len(st.Replicas); n != 1 && n != routes {
		return fmt.Errorf("%d replicas: 1 or one for each of %d routes is needed", n, routes)
	}
	if st.Backward > Auto {
		return fmt.Errorf("unknown backward mode %d", st.Backward)
	}
	if st.Activation < 0 || st.Static < 0 {
		return fmt.Errorf("activation %d and static memory %d must not be negative", st.Activation, st.Static)
	}
	if st.FreedByInput < -maxTotal {
		return fmt.Errorf("freed by backward input %d is out of range", st.FreedByInput)
	}
	if st.FreedByInput > st.Activation {
		return fmt.Errorf("backward input gives back %d of an activation of %d", st.FreedByInput, st.Activation)
	}
	for _, q := range st.After {
		if q < 0 || q >= len(pl.Stages) || q == s {
			return fmt.Errorf("follows stage %d of %d", q, len(pl.Stages))
		}
	}
	if err := pl.checkNet(s); err != nil {
		return err
	}
	for _, r := range st.Replicas {
		if err := r.check(pl.Devices); err != nil {
			return err
		}
		if r.Durations.has() != st.Replicas[0].Durations.has() {
			return fmt.Errorf("its replicas have different operations")
		}
	}
	return nil
}

// has lists which operations exist.
func (d Durations) has() [4]bool {
	return [4]bool{d.Forward != Absent, d.BackwardInput != Absent, d.BackwardWeight != Absent, d.BackwardFull != Absent}
}

// checkNet tests that the operations beside a stage leave it memory that it can
// give back.
func (pl *Pipeline) checkNet(s int) error {
	st, net := &pl.Stages[s], pl.netMemory(s)
	d := st.Replicas[0].Durations
	freed := max(0, st.FreedByInput)
	if d.BackwardInput == Absent {
		freed = 0
	}
	switch {
	case net == 0:
	case !d.has()[1] && !d.has()[2] && !d.has()[3]:
		return fmt.Errorf("its operations leave %d of memory taken, and it has no backward that gives it back", net)
	case net < -maxTotal || net > maxTotal:
		return fmt.Errorf("its operations leave %d of memory taken: out of range", net)
	case st.Activation+max(0, -st.FreedByInput)-freed+net < 0:
		return fmt.Errorf("its operations give back %d more than they take, beyond what its activation leaves them", -net)
	}
	return nil
}

func (r *Replica) check(devices []Device) error {
	if len(r.Devices) == 0 {
		return fmt.Errorf("sits on no device")
	}
	sorted := slices.Sorted(slices.Values(r.Devices))
	for i, d := range sorted {
		if d < 0 || d >= len(devices) {
			return fmt.Errorf("sits on device %d: there are %d", d, len(devices))
		}
		if devices[d].Engine {
			return fmt.Errorf("sits on device %d, which is an engine", d)
		}
		if i > 0 && d == sorted[i-1] {
			return fmt.Errorf("lists device %d twice", d)
		}
	}
	if r.Durations.Forward == Absent {
		return fmt.Errorf("has no forward")
	}
	for _, t := range []Time{r.Durations.Forward, r.Durations.BackwardInput, r.Durations.BackwardWeight, r.Durations.BackwardFull, r.Durations.Overlapped} {
		if t < Absent || t > maxTotal {
			return fmt.Errorf("duration %d is out of range", t)
		}
	}
	return nil
}

func (pl *Pipeline) checkLinks() error {
	if pl.Latency < 0 || pl.Latency > maxTotal {
		return fmt.Errorf("latency %d is out of range", pl.Latency)
	}
	seen := map[[2]int]bool{}
	for _, l := range pl.Links {
		pair := [2]int{l.From, l.To}
		switch {
		case l.From < 0 || l.To < 0 || l.From >= len(pl.Devices) || l.To >= len(pl.Devices) || l.From == l.To:
			return fmt.Errorf("link from device %d to device %d: two different devices of %d are needed", l.From, l.To, len(pl.Devices))
		case l.Latency < 0 || l.Latency > maxTotal:
			return fmt.Errorf("link from device %d to device %d: latency %d is out of range", l.From, l.To, l.Latency)
		case seen[pair]:
			return fmt.Errorf("link from device %d to device %d is given twice", l.From, l.To)
		}
		seen[pair] = true
	}
	return nil
}

// stageOrder returns the stages in topological order of the stage graph (a chain
// in chain order), or an error that names a stage on or behind a cycle.
func (pl *Pipeline) stageOrder() ([]int, error) {
	waits := make([]int, len(pl.Stages))
	after := make([][]int, len(pl.Stages))
	for s, st := range pl.Stages {
		waits[s] = len(st.After)
		for _, q := range st.After {
			after[q] = append(after[q], s)
		}
	}
	var order []int
	for s, n := range waits {
		if n == 0 {
			order = append(order, s)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, q := range after[order[i]] {
			if waits[q]--; waits[q] == 0 {
				order = append(order, q)
			}
		}
	}
	if len(order) < len(pl.Stages) {
		s := slices.IndexFunc(waits, func(n int) bool { return n > 0 })
		return nil, fmt.Errorf("the stage graph has a cycle through stage %d", s)
	}
	return order, nil
}

// checkGradients tests that each stage with a backward of any kind gets a
// gradient from every stage that follows it.
func (pl *Pipeline) checkGradients() error {
	for s, st := range pl.Stages {
		for _, q := range st.After {
			before := pl.Stages[q].Replicas[0].Durations
			if before.has()[1] || before.has()[2] || before.has()[3] {
				if own := st.Replicas[0].Durations; own.BackwardInput == Absent && (own.BackwardFull == Absent || own.BackwardWeight != Absent) {
					return fmt.Errorf("stage %d has a backward operation, but stage %d, which follows it, has no backward_input and so sends no gradient", q, s)
				}
			}
		}
	}
	return nil
}

// checkStatics bounds the static memory of each device.
func (p *Problem) checkStatics() error {
	total := make([]Bytes, p.NumDevices())
	for _, st := range p.Pipeline.Stages {
		for _, r := range st.Replicas {
			for _, d := range r.Devices {
				if st.Static > maxTotal-total[d] {
					return atDevice(d, errors.New("the static memory adds up to more than 2^61; write fewer digits, so that a tick can be larger, or take fewer micro-batches"))
				}
				total[d] += st.Static
			}
		}
	}
	return nil
}

// checkTotals bounds the sum of all durations, lags and memory deltas, and
// checks that factors scale durations to whole ticks.
func (p *Problem) checkTotals() error {
	pl := p.Pipeline
	if err := p.checkStatics(); err != nil {
		return err
	}
	factor := Time(1)
	for _, f := range pl.Factors {
		factor = max(factor, Time(f))
	}
	left := Time(maxTotal)
	spend := func(t Time, times int) bool {
		if t > 0 && Time(times) > left/t {
			return false
		}
		left -= t * Time(times)
		return true
	}
	room := Bytes(maxTotal)
	for r := range p.Rows {
		row := &p.Rows[r]
		d := row.Duration
		if pl.Factors != nil && !row.Fixed && !row.Single {
			if d%Time(pl.FactorScale) != 0 {
				return atStage(row.Stage, fmt.Errorf("duration %d is not a multiple of the factor scale %d", d, pl.FactorScale))
			}
			d = d / Time(pl.FactorScale)
			if d > 0 && factor > maxTotal/d {
				return atStage(row.Stage, errors.New("durations overflow; write fewer digits, so that a tick can be larger, or take fewer micro-batches"))
			}
			d *= factor
		}
		lag := Time(0)
		for _, pred := range row.Preds {
			lag = max(lag, pred.Lag)
		}
		if !spend(d, p.Count(r)) || !spend(lag, p.Count(r)) {
			return fmt.Errorf("the durations add up to more than 2^61 ticks; write fewer digits, so that a tick can be larger, or take fewer micro-batches")
		}
		for _, delta := range row.Memory {
			most := max(delta.AtStart, -delta.AtEnd)
			if most > 0 && Bytes(p.Count(r)) > room/most {
				return fmt.Errorf("the memory amounts add up to more than 2^61; write fewer digits, so that a tick can be larger, or take fewer micro-batches")
			}
			room -= most * Bytes(p.Count(r))
		}
	}
	return nil
}
