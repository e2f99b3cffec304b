package view

import (
	"fmt"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// mostPerTick keeps tiny plans from being drawn across the whole width.
const mostPerTick = 6

// scaledLanes draws the plan into a given width.
type scaledLanes struct {
	track    *track
	drawer   *laneDrawer
	color    bool
	grain    model.Time
	perGrain int // columns; 0: the grain is narrower than one
}

// newScaledLanes gives each grain of time a whole number of columns if there is
// room, so that equal operations look equal.
func newScaledLanes(tr *track, room int, color bool) *scaledLanes {
	s := &scaledLanes{track: tr, color: color, grain: grain(tr)}
	width := room
	if grains := int64(tr.end / s.grain); grains > 0 && grains <= int64(room) {
		s.perGrain = min(room/int(grains), mostPerTick)
		width = int(grains) * s.perGrain
	}
	s.drawer = newLaneDrawer(tr, tr.end, width)
	return s
}

func (s *scaledLanes) columns() int { return s.drawer.width }

func (s *scaledLanes) note(int) []string { return nil }

func (s *scaledLanes) lane(line *styledLine, d int) {
	cells := s.drawer.draw(d)
	sameOp := func(a, b cell) bool { return a.op == b.op }
	runs(cells, sameOp, func(first, last int) {
		c := cells[first]
		if c.op < 0 {
			line.write(strings.Repeat(s.blank("."), last-first), nil)
			return
		}
		line.write(s.block(c, last-first), &c.class)
	})
}

// blank returns the character for an area: with colour, the background says it.
func (s *scaledLanes) blank(char string) string {
	if s.color {
		return " "
	}
	return char
}

// block draws an operation in n columns: its letters, the micro-batch if that
// fits, and dashes.
func (s *scaledLanes) block(c cell, n int) string {
	if c.class.kind.IsTransfer() {
		return strings.Repeat("~", n)
	}
	text := s.track.p.Kinds[c.class.kind].Letter
	if c.class.chunk%2 == 1 {
		text = strings.ToLower(text)
	}
	text = text[:min(n, len(text))]
	if m := s.track.p.MicroBatch(c.op); m >= 0 && len(text)+len(fmt.Sprint(m)) <= n {
		text += fmt.Sprint(m)
	}
	return text + strings.Repeat(s.blank("-"), n-len(text))
}

func (s *scaledLanes) legend() []string { return append(s.letterLegend(), s.lookLegend()...) }

// letterLegend explains what stands in an operation.
func (s *scaledLanes) letterLegend() []string {
	return append([]string{"letter and, where it fits, micro-batch"}, s.track.kindLegend()...)
}

// lookLegend explains the rest.
func (s *scaledLanes) lookLegend() (parts []string) {
	if s.track.most > 1 {
		parts = append(parts, "small letters: every second chunk of a device")
	}
	for _, k := range s.track.kinds() {
		if k.IsTransfer() {
			parts = append(parts, "~ transfer")
			break
		}
	}
	if !s.color {
		parts = append(parts, ". idle")
	}
	if s.perGrain > 0 {
		return append(parts, s.track.ruler(s.perGrain, s.grain))
	}
	return append(parts, "what is narrower than a column appears in proportion")
}
