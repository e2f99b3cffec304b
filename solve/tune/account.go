package tune

import "github.com/flexpipe/flexpipe/model"

// Account says where the time of an iteration goes on one device of a plan, in the
// configuration's unit: for the makespan on the busiest device, for the span on that
// with the largest, where WarmUp and Drain do not count. Work and the bubbles add up
// to the objective.
type Account struct {
	Device  int     // the first of several
	Work    float64 // operations of that device
	WarmUp  float64 // idle before its first operation
	Waits   float64 // idle between its operations
	Drain   float64 // idle after its last operation
	Average float64 // work of a device on average, engines left out
}

// newAccount returns the account of a plan.
func newAccount(p *model.Problem, m *model.Metrics) Account {
	a := Account{Device: -1}
	begin, devices, heaviest := first(m), 0, model.Time(0)
	for d, dm := range m.Devices {
		if p.Pipeline.Devices[d].Engine {
			continue
		}
		devices++
		a.Average += inUnit(p, dm.Busy)
		ofSpan := p.Pipeline.Objective == model.Span
		weight := dm.Busy
		if ofSpan {
			weight = dm.Span()
		}
		if a.Device >= 0 && weight <= heaviest {
			continue
		}
		heaviest = weight
		a.Device, a.Work, a.Waits = d, inUnit(p, dm.Busy), inUnit(p, dm.Span()-dm.Busy)
		if !ofSpan {
			a.WarmUp, a.Drain = inUnit(p, dm.First-begin), inUnit(p, m.Makespan-(dm.Last-begin))
		}
	}
	if devices > 0 {
		a.Average /= float64(devices)
	}
	return a
}

// first returns the first start of a timeline, 0 if it has no operations.
func first(m *model.Metrics) model.Time {
	begin := model.Time(-1)
	for _, dm := range m.Devices {
		if dm.Last > dm.First && (begin < 0 || dm.First < begin) {
			begin = dm.First
		}
	}
	return max(0, begin)
}

// Part is one part of an [Account].
type Part struct {
	Name   string
	Amount func(Account) float64
}

// Parts lists the parts of an account; they add up to the objective.
func Parts() []Part {
	return []Part{
		{"work of the device", func(a Account) float64 { return a.Work }},
		{"idle before its first operation", func(a Account) float64 { return a.WarmUp }},
		{"waits between its operations", func(a Account) float64 { return a.Waits }},
		{"idle after its last operation", func(a Account) float64 { return a.Drain }},
	}
}
