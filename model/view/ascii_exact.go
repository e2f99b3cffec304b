package view

import (
	"fmt"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// exactLanes draws whole columns per grain, the greatest common divisor of all
// times.
type exactLanes struct {
	track    *track
	grain    model.Time
	perGrain int  // columns
	staged   bool // names carry the stage
}

// newExactLanes returns nil if it may be refused and will not fit into room.
func newExactLanes(tr *track, devices []int, must bool, room int) *exactLanes {
	e := &exactLanes{track: tr, perGrain: 2, staged: tr.mixed()}
	for _, d := range devices {
		if d >= 0 && !must && len(tr.orders[d]) > room {
			return nil
		}
	}
	e.grain = grain(tr)
	for _, d := range devices {
		if d < 0 {
			continue
		}
		for _, op := range tr.orders[d] {
			if n := int(tr.p.Duration(op) / e.grain); n > 0 {
				e.perGrain = max(e.perGrain, (len(e.token(op))+n)/n)
			}
		}
	}
	if !must && int64(tr.end/e.grain) > int64(room) {
		return nil
	}
	return e
}

// grain returns the greatest common divisor of all times, at least 1.
func grain(tr *track) model.Time {
	g := model.Time(0)
	for _, order := range tr.orders {
		for _, op := range order {
			start, end := tr.span(op)
			g = gcd(g, start)
			g = gcd(g, end-start)
			if g == 1 {
				return 1
			}
		}
	}
	return max(g, 1)
}

func gcd(a, b model.Time) model.Time {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (e *exactLanes) columns() int { return int(e.track.end/e.grain) * e.perGrain }

// mixed reports whether some device runs operations of several stages.
func (tr *track) mixed() bool {
	for _, rows := range tr.p.RowsOn {
		stage := -1
		for _, r := range rows {
			row := &tr.p.Rows[r]
			if row.Stage < 0 || row.Kind.IsTransfer() {
				continue
			}
			if stage >= 0 && row.Stage != stage {
				return true
			}
			stage = row.Stage
		}
	}
	return false
}

// token is the name of an operation in a lane: letter and micro-batch, the stage
// in front if a device runs those of several. A transfer, which stands on two devices, is
// stage, f or b, micro-batch, and the receiver if the stage has several.
func (e *exactLanes) token(op model.OpID) string {
	row := e.track.p.Row(op)
	if !row.Kind.IsTransfer() {
		name := e.track.p.Name(op)
		if !e.staged {
			name = strings.TrimLeft(name, "0123456789")
		}
		return name
	}
	letter := map[model.Kind]string{model.SendForward: "f", model.SendBackward: "b"}[row.Kind]
	name := fmt.Sprintf("%d%s%d", row.Stage, letter, e.track.p.MicroBatch(op))
	if e.track.receivers(row) > 1 {
		name += fmt.Sprintf(">%d", row.To)
	}
	return name
}

// receivers counts the transfers that carry the same output as a transfer row.
func (tr *track) receivers(row *model.Row) int {
	n := 0
	for _, s := range tr.p.Succs[row.Preds[0].Row] {
		if tr.p.Rows[s.Row].Kind.IsTransfer() {
			n++
		}
	}
	return n
}

func (e *exactLanes) lane(line *styledLine, d int) {
	now := model.Time(0)
	for _, op := range e.track.orders[d] {
		start, end := e.track.span(op)
		if start == end {
			continue
		}
		e.idle(line, now, start)
		token, c := e.token(op), e.track.class(d, op)
		width := int((end-start)/e.grain)*e.perGrain - 1
		line.write(token+strings.Repeat("-", width-len(token)), &c)
		line.write(" ", nil)
		now = end
	}
	e.idle(line, now, e.track.end)
}

func (e *exactLanes) idle(line *styledLine, from, to model.Time) {
	if n := int((to - from) / e.grain); n > 0 {
		line.write(strings.Repeat("."+strings.Repeat(" ", e.perGrain-1), n), nil)
	}
}

func (e *exactLanes) note(d int) []string {
	var zero []string
	for _, op := range e.track.orders[d] {
		if start, end := e.track.span(op); start == end {
			zero = append(zero, fmt.Sprintf("%s at %s", e.token(op), e.track.p.Pipeline.TimeUnit.Format(int64(start))))
		}
	}
	if zero != nil {
		zero[0] = "zero length: " + zero[0]
	}
	return zero
}

func (e *exactLanes) legend() []string {
	name := "letter and micro-batch"
	if e.staged {
		name = "stage, letter, micro-batch"
	}
	parts := append([]string{name}, e.track.kindLegend()...)
	for _, k := range e.track.kinds() {
		switch k {
		case model.SendForward:
			parts = append(parts, "f transfer of an output")
		case model.SendBackward:
			parts = append(parts, "b transfer of a gradient")
		}
	}
	return append(parts, ". idle", e.track.ruler(e.perGrain, e.grain))
}
