package bound

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// burden says what a device has to do, and what must precede and follow that; for
// the span counted from its own first start. A device is called busy for its
// whole work only: the figure that plans report.
func burden(p *model.Problem, objective model.Objective, f finding) string {
	name, work := p.DeviceName(f.device), p.FormatTime(f.work)
	head, tail := p.FormatTime(f.head), p.FormatTime(f.tail)
	if objective == model.Span {
		head += " after its first start"
	}
	if busy, fixed := busyTime(p, f.device); fixed && busy == f.work {
		text := fmt.Sprintf("%s is busy for %s", name, work)
		if f.head > 0 {
			text += ", which cannot begin before " + head
		}
		if f.tail > 0 {
			text += ", after which " + tail + " must follow"
		}
		return text
	}
	what := "operations of " + name
	if transfers(p, f.device) {
		what = "operations and transfers of " + name
	}
	switch {
	case f.head == 0 && f.tail == 0:
		return fmt.Sprintf("%s take %s", what, work)
	case f.head == 0:
		return fmt.Sprintf("%s take %s, and %s must follow them", what, work, tail)
	case f.tail == 0:
		return fmt.Sprintf("%s that take %s cannot begin before %s", what, work, head)
	}
	return fmt.Sprintf("%s that take %s cannot begin before %s, and %s must follow them", what, work, head, tail)
}

// busyTime returns how long a device is busy in every plan; fixed is false where
// that depends on the plan, or where transfers occupy the device besides.
func busyTime(p *model.Problem, device int) (busy model.Time, fixed bool) {
	if transfers(p, device) {
		return 0, false
	}
	for _, r := range p.RowsOn[device] {
		if p.Rows[r].Choice != model.Always {
			return 0, false
		}
		busy += total(p, int(r))
	}
	return busy, true
}

// transfers reports whether transfers occupy a device.
func transfers(p *model.Problem, device int) bool {
	for _, r := range p.RowsOn[device] {
		if p.Rows[r].Kind.IsTransfer() {
			return true
		}
	}
	return false
}
