package view

import (
	"fmt"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// exactLanes draws whole columns per grain, the greatest common divisor of all
// times.
type exactLanes struct {
	pic      *picture
	grain    model.Time
	perGrain int  // columns
	staged   bool // names carry the stage
}

// newExactLanes returns nil if it may be refused and will not fit into room.
func newExactLanes(pic *picture, devices []int, must bool, room int) *exactLanes {
	e := &exactLanes{pic: pic, perGrain: 2, staged: pic.mixed()}
	for _, d := range devices {
		if d >= 0 && !must && len(pic.plan.Order[d]) > room {
			return nil
		}
	}
	e.grain = grain(pic)
	for _, d := range devices {
		if d < 0 {
			continue
		}
		for _, op := range pic.plan.Order[d] {
			if n := int(pic.p.Duration(op) / e.grain); n > 0 {
				e.perGrain = max(e.perGrain, (len(e.token(op))+n)/n)
			}
		}
	}
	if !must && int64(pic.end/e.grain) > int64(room) {
		return nil
	}
	return e
}

// grain returns the greatest common divisor of all times, at least 1.
func grain(pic *picture) model.Time {
	g := model.Time(0)
	for _, order := range pic.plan.Order {
		for _, op := range order {
			g = gcd(g, pic.tl.Start[op])
			g = gcd(g, pic.p.Duration(op))
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

func (e *exactLanes) columns() int { return int(e.pic.end/e.grain) * e.perGrain }

// mixed reports whether some device runs operations of several stages.
func (pic *picture) mixed() bool {
	for _, rows := range pic.p.RowsOn {
		stage := -1
		for _, r := range rows {
			row := &pic.p.Rows[r]
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
	row := e.pic.p.Row(op)
	if !row.Kind.IsTransfer() {
		name := e.pic.p.Name(op)
		if !e.staged {
			name = strings.TrimLeft(name, "0123456789")
		}
		return name
	}
	letter := map[model.Kind]string{model.SendForward: "f", model.SendBackward: "b"}[row.Kind]
	name := fmt.Sprintf("%d%s%d", row.Stage, letter, e.pic.p.MicroBatch(op))
	if e.pic.receivers(row) > 1 {
		name += fmt.Sprintf(">%d", row.To)
	}
	return name
}

// receivers counts the transfers that carry the same output as a transfer row.
func (pic *picture) receivers(row *model.Row) int {
	n := 0
	for _, s := range pic.p.Succs[row.Preds[0].Row] {
		if pic.p.Rows[s.Row].Kind.IsTransfer() {
			n++
		}
	}
	return n
}

func (e *exactLanes) lane(line *styledLine, d int) {
	now := model.Time(0)
	for _, op := range e.pic.plan.Order[d] {
		start, duration := e.pic.tl.Start[op], e.pic.p.Duration(op)
		if duration == 0 {
			continue
		}
		e.idle(line, now, start)
		token, c := e.token(op), e.pic.class(d, op)
		width := int(duration/e.grain)*e.perGrain - 1
		line.write(token+strings.Repeat("-", width-len(token)), &c)
		line.write(" ", nil)
		now = start + duration
	}
	e.idle(line, now, e.pic.end)
}

func (e *exactLanes) idle(line *styledLine, from, to model.Time) {
	if n := int((to - from) / e.grain); n > 0 {
		line.write(strings.Repeat("."+strings.Repeat(" ", e.perGrain-1), n), nil)
	}
}

func (e *exactLanes) note(d int) []string {
	var zero []string
	for _, op := range e.pic.plan.Order[d] {
		if e.pic.p.Duration(op) == 0 {
			zero = append(zero, fmt.Sprintf("%s at %s", e.token(op), e.pic.p.Pipeline.TimeUnit.Format(int64(e.pic.tl.Start[op]))))
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
	parts := append([]string{name}, e.pic.kindLegend()...)
	for _, k := range e.pic.kinds() {
		switch k {
		case model.SendForward:
			parts = append(parts, "f transfer of an output")
		case model.SendBackward:
			parts = append(parts, "b transfer of a gradient")
		}
	}
	return append(parts, ". idle", e.pic.ruler(e.perGrain, e.grain))
}
