package view

import (
	"errors"
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// comparison is what drawings of several lanes on one axis share.
type comparison struct {
	lanes  []TraceLane
	tracks []*track
	end    model.Time // nanoseconds; the axis runs from 0 to it
	unit   model.Unit // of the axis; its tick is a nanosecond
}

// newComparison needs a lane, and lanes of the same number of devices. Errors are
// *LaneError.
func newComparison(lanes []TraceLane) (*comparison, error) {
	if len(lanes) == 0 {
		return nil, errors.New("view: there is no lane to draw")
	}
	c := &comparison{lanes: lanes}
	for i := range lanes {
		tr, err := lanes[i].track()
		if err != nil {
			return nil, err
		}
		if n := len(tr.orders); i > 0 && n != len(c.tracks[0].orders) {
			return nil, &LaneError{lanes[i].Name, "", fmt.Sprintf("%s cannot stand below those of lane %q, which has %s",
				model.Plural(n, "device"), lanes[0].Name, model.Plural(len(c.tracks[0].orders), "device"))}
		}
		c.tracks = append(c.tracks, tr)
		c.end = max(c.end, tr.end)
	}
	c.unit = readableUnit(c.end)
	return c, nil
}

// readableUnit returns the largest physical unit of which a time has ten.
func readableUnit(ns model.Time) model.Unit {
	for _, u := range []model.Unit{{Name: "s", Divisor: 1e9}, {Name: "ms", Divisor: 1e6}, {Name: "us", Divisor: 1e3}} {
		if int64(ns) >= 10*u.Divisor {
			u.Multiplier = 1
			return u
		}
	}
	return model.Unit{Name: "ns", Multiplier: 1, Divisor: 1}
}

// length is the time from the first start to the last end of a lane.
func (tr *track) length() model.Time {
	first := tr.end
	for _, order := range tr.orders {
		if len(order) > 0 {
			start, _ := tr.span(order[0])
			first = min(first, start)
		}
	}
	return tr.end - first
}

// busyShare is the share of its lane's length that a device works.
func (tr *track) busyShare(d int, length model.Time) string {
	busy := model.Time(0)
	for _, op := range tr.orders[d] {
		if tr.p.Kinds[tr.p.Row(op).Kind].Busy {
			start, end := tr.span(op)
			busy += end - start
		}
	}
	return percent(busy, length)
}

// facts lists the length of each lane, and of later ones how far the first is from them: of a
// prediction beside what was measured, its error relative to the measurement.
func (c *comparison) facts() []string {
	var facts []string
	first := c.tracks[0].length()
	for i, tr := range c.tracks {
		length := tr.length()
		fact := fmt.Sprintf("%s %s %s", c.lanes[i].Name, c.unit.Rounded(int64(length)), c.unit.Name)
		if i > 0 && length > 0 {
			fact += fmt.Sprintf(" (%s %s)", c.lanes[0].Name, signedPercent(first-length, length))
		}
		facts = append(facts, fact)
	}
	return facts
}

// signedPercent writes a difference as Percent does, with its sign.
func signedPercent(difference, of model.Time) string {
	text := percent(difference, of)
	if difference <= 0 || text[0] == '<' {
		return text
	}
	return "+" + text
}

// union appends the texts of more that list lacks.
func union(list, more []string) []string {
	for _, text := range more {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}
