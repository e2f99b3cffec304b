package view

import (
	"fmt"
	"io"

	"github.com/flexpipe/flexpipe/model"
)

// CompareSVG draws lanes of one *model.Problem as SVG does, those of each device under
// each other on one time axis in a physical unit: the length of each lane and how far
// it is from the first, and beside each lane its busy share. A width of 0 is 1200
// pixels. It returns an error if there is no lane, *LaneError for what cannot have run
// or is of another problem, and those of w. Cost O(operations).
func CompareSVG(w io.Writer, lanes []TraceLane, width int) error {
	c, err := newComparison(lanes)
	if err != nil {
		return err
	}
	s := &svgPicture{first: c.tracks[0], lanes: len(lanes), width: width, unit: c.unit, end: c.end}
	s.entitle(c.facts())
	lengths := make([]model.Time, len(lanes))
	for i, tr := range c.tracks {
		if tr.p != c.tracks[0].p {
			return &LaneError{lanes[i].Name, "", fmt.Sprintf("is of another problem than lane %q; Compare draws both", lanes[0].Name)}
		}
		lengths[i] = tr.length()
	}
	for d := range c.tracks[0].orders {
		for i, tr := range c.tracks {
			label := lanes[i].Name
			if i == 0 {
				label = tr.label(d) + " " + label
			}
			s.rows = append(s.rows, svgRow{track: tr, device: d, label: label, busy: tr.busyShare(d, lengths[i])})
		}
	}
	return s.write(w)
}
