package bound

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// Bound is a proven lower bound of an objective.
type Bound struct {
	Value  model.Time // ticks
	Kind   Kind
	Device int    // the device whose work forces the value, or -1
	Reason string // one sentence, in the problem's time unit
}

// Kind names the argument behind a bound.
type Kind uint8

// The arguments.
const (
	Work    Kind = iota // a device has that much to do
	Path                // a chain of operations each of which waits for the one before
	Machine             // the work of a device, what must precede and what must follow it
	Memory              // as Machine or Path, where memory limits delay operations
	Windows             // deductions from the time windows that a smaller value would leave
)

var kindNames = []string{"work", "path", "machine", "memory", "windows"}

func (k Kind) String() string { return kindNames[k] }

// Lower returns a lower bound of the objective of p. It is deterministic.
//
// Cost O(rounds · rows per device · operations · log operations) up to some
// hundred thousand operations, then O(rows).
func Lower(p *model.Problem) Bound {
	if p.Pipeline.Objective == model.Span {
		return Span(p)
	}
	return Makespan(p)
}

// Makespan returns a lower bound of the time from the first start to the last
// end of any schedule of p. Cost as Lower.
func Makespan(p *model.Problem) Bound {
	return strongest(p, model.Makespan, makespan)
}

// Span returns a lower bound of the largest, over devices, of the time from own
// first start to own last end in any schedule of p. Cost as Lower, for each
// device until a fixed effort is spent, the busiest devices first.
func Span(p *model.Problem) Bound {
	return strongest(p, model.Span, span)
}

// attributable bounds the problems for which a bound is attributed to memory.
const attributable = 20000

// finding is the best relaxation that an argument found, and where; or, if
// refuted, that no smaller value stands, and the device that rules it out.
type finding struct {
	relaxation
	device  int
	refuted bool
}

// improve replaces f by a relaxation with a larger value, or with the same value
// from more work, which says more.
func (f *finding) improve(r relaxation, device int) {
	if f.device < 0 || r.value > f.value || r.value == f.value && r.work > f.work && !f.refuted {
		*f = finding{relaxation: r, device: device}
	}
}

// strongest returns the best of an objective's bounds: for micro-batches that
// differ also the one that keeps them apart. Where memory is limited and the
// problem not huge, it runs the argument without the limits to say whether they
// matter.
func strongest(p *model.Problem, objective model.Objective, bound func(p *model.Problem, withMemory, refuting bool) finding) Bound {
	best := bound(p, true, true)
	memory := limited(p) && p.NumOps() < attributable && !best.refuted && bound(p, false, false).value < best.value
	if !p.Identical {
		apart := finding{device: -1}
		if mixed(p, objective, &apart); apart.value > best.value {
			best, memory = apart, false
		}
	}
	return report(p, objective, best, memory)
}

func limited(p *model.Problem) bool {
	for _, limit := range p.Limits {
		if limit < model.Unlimited {
			return true
		}
	}
	return false
}

func report(p *model.Problem, objective model.Objective, f finding, memory bool) Bound {
	b := Bound{Value: f.value, Device: f.device}
	if f.device < 0 {
		b.Reason = "there is nothing to run"
		return b
	}
	name := p.DeviceName(f.device)
	switch {
	case f.refuted:
		b.Kind = Windows
		b.Reason = fmt.Sprintf("in less than %s, %s would have no time for all its operations between what must precede and what must follow them",
			p.FormatTime(f.value), name)
		return b
	case f.head == 0 && f.tail == 0:
		b.Kind = Work
		b.Reason = burden(p, objective, f)
	case f.jobs == 1:
		b.Kind = Path
		b.Reason = fmt.Sprintf("operations that must follow one another, on and around %s, take %s", name, p.FormatTime(f.value))
	default:
		b.Kind = Machine
		b.Reason = burden(p, objective, f)
	}
	if memory {
		b.Kind = Memory
		b.Reason += ", as memory limits make operations wait"
	}
	return b
}
