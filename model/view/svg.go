package view

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// SVGOptions say how SVG draws. The zero value is a good choice.
type SVGOptions struct {
	Width  int        // pixels; 0: 1200
	Bound  model.Time // proven lower bound of the objective in ticks; 0: unknown
	Broken bool       // the plan breaks rules: the picture says so, and shows no gap
}

// SVG draws a plan and its timeline as a stand-alone SVG document: a lane for
// each device with its operations coloured by kind and shaded by chunk, their
// micro-batches where they fit, a tooltip for each, a time axis in the user's
// unit, busy share and peak memory of each device, and a legend. It follows the
// reader's choice of a light or dark page. Above 20,000 operations lanes are
// drawn pixel by pixel, without tooltips, so that the size of the document
// depends on the number of devices only. It returns an error if plan, times and
// problem do not fit each other, and those of w. Cost O(operations).
func SVG(w io.Writer, p *model.Problem, plan *model.Plan, tl *model.Timeline, o SVGOptions) error {
	pic, err := newPicture(p, plan, tl)
	if err != nil {
		return err
	}
	s := &svgPicture{first: pic.track, lanes: 1, width: o.Width, unit: p.TimeUnit(), end: pic.end, memory: pic.memory}
	s.entitle(pic.svgFacts(o))
	for d := range plan.Order {
		s.rows = append(s.rows, svgRow{track: pic.track, device: d, label: pic.label(d), busy: pic.busy(d), peak: pic.peak(d)})
	}
	return s.write(w)
}

// svgFacts lists the status of the plan, as far as the bound tells, and its figures.
func (pic *picture) svgFacts(o SVGOptions) []string {
	objective := pic.p.Pipeline.Objective
	facts := append(pic.figures(o.Bound, o.Broken), "objective "+objective.String())
	switch {
	case o.Broken || o.Bound == 0:
		return facts
	case pic.metrics.Value(objective) == o.Bound:
		return append([]string{"optimal"}, facts...)
	}
	return append([]string{"feasible"}, facts...)
}

// Sizes of the drawing, in pixels.
const (
	margin     = 20
	headHeight = 84 // title, summary and headers above the lanes
	fontSize   = 11
	lineHeight = 14
	letterW    = 65 // tenths of the width of a letter at fontSize, on the safe side
)

// svgPicture is a drawing of one timeline, or of several of the same problem.
type svgPicture struct {
	w      *bufio.Writer
	first  *track // what it says of the problem holds for all
	rows   []svgRow
	lanes  int        // rows of each device
	width  int        // of the whole picture
	unit   model.Unit // of the axis
	end    model.Time // the axis runs from 0 to it, in ticks of the unit
	memory bool       // rows have a peak
	title  string
	facts  []string
	kinds  []model.Kind // those that ran, ascending
	ops    int          // operations of all rows

	left, right     int // of the lanes
	laneH, pitch    int // height of a lane, and distance of two
	groupGap        int // between devices of several rows
	bottom          int // of the lanes
	legendY, height int
	labelEvery      int // lanes with a label, so that labels do not overlap
	busyX, peakX    int // right edges of the columns beside the lanes
}

// svgRow is a lane of the picture, with what stands beside it.
type svgRow struct {
	*track
	device            int
	label, busy, peak string
}

// entitle sets the title, and what stands below it.
func (s *svgPicture) entitle(facts []string) {
	s.title, s.facts = s.first.p.Pipeline.Name, facts
	if s.title == "" {
		s.title = strings.Join(s.first.counts(), ", ")
	} else {
		s.facts = append(s.facts, s.first.counts()...)
	}
}

// write draws the picture.
func (s *svgPicture) write(w io.Writer) error {
	if s.width == 0 {
		s.width = 1200
	}
	s.w = bufio.NewWriter(w)
	for _, row := range s.rows[:s.lanes] { // those of one device hold all tracks
		s.ops += row.numOps()
		s.kinds = append(s.kinds, row.track.kinds()...)
	}
	slices.Sort(s.kinds)
	s.kinds = slices.Compact(s.kinds)
	s.layout()
	s.draw()
	return s.w.Flush()
}

// y is the upper edge of a row.
func (s *svgPicture) y(row int) int { return headHeight + row*s.pitch + row/s.lanes*s.groupGap }

// laneSizes gives height and gap of lanes for up to so many devices.
var laneSizes = []struct{ devices, height, gap int }{
	{12, 30, 6}, {24, 24, 4}, {48, 18, 3}, {96, 12, 2}, {200, 7, 1}, {700, 3, 0}, {1400, 2, 0},
}

func (s *svgPicture) layout() {
	n := len(s.rows)
	s.laneH, s.pitch = 1, 1
	for _, size := range laneSizes {
		if n <= size.devices {
			s.laneH, s.pitch = size.height, size.height+size.gap
			break
		}
	}
	if s.lanes > 1 {
		s.groupGap = s.laneH / 3
	}
	for every := newStep(); s.labelEvery*s.pitch < lineHeight; every.grow(1) {
		s.labelEvery = int(every.value().Num().Int64())
	}
	labels, peaks := 0, textWidth("peak memory")
	for i := 0; i < n; i += s.labelEvery {
		labels = max(labels, textWidth(s.rows[i].label))
		peaks = max(peaks, textWidth(s.rows[i].peak))
	}
	s.left = margin + labels + 10
	s.right = s.width - margin - textWidth("100.0%") - 10
	s.busyX = s.width - margin
	if s.memory {
		s.peakX = s.busyX
		s.busyX -= peaks + 14
		s.right -= peaks + 14
	}
	s.right = max(s.right, s.left+100)
	s.bottom = s.y(n) - s.groupGap
	s.legendY = s.bottom + 50
	s.height = s.legendY + margin
}

// textWidth estimates the width of a text in pixels.
func textWidth(text string) int { return (textColumns(text)*letterW + 9) / 10 }

func (s *svgPicture) draw() {
	width := max(s.width, s.right+margin)
	fmt.Fprintf(s.w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" font-size="%d">`+"\n",
		width, s.height, fontSize)
	fmt.Fprintf(s.w, "<title>%s</title>\n", escape(s.title))
	s.first.styleSheet(s.w, s.kinds)
	fmt.Fprintf(s.w, `<rect class="page" width="%d" height="%d"/>`+"\n", width, s.height)
	fmt.Fprintf(s.w, `<text x="%d" y="32" font-size="17" font-weight="600">%s</text>`+"\n", margin, escape(s.title))
	fmt.Fprintf(s.w, `<text class="dim" x="%d" y="52" font-size="12">%s</text>`+"\n", margin, escape(strings.Join(s.facts, " · ")))
	s.headers()
	s.laneGrounds()
	s.axis()
	if s.ops > mostShapes {
		s.pixels()
	} else {
		s.shapes()
	}
	s.drawLegend()
	fmt.Fprint(s.w, "</svg>\n")
}

// headers names the columns beside the lanes.
func (s *svgPicture) headers() {
	fmt.Fprintf(s.w, `<text class="dim r" x="%d" y="%d">busy</text>`+"\n", s.busyX, headHeight-8)
	if s.memory {
		fmt.Fprintf(s.w, `<text class="dim r" x="%d" y="%d">peak memory</text>`+"\n", s.peakX, headHeight-8)
	}
}

// laneGrounds draws the lanes without operations, their labels and figures.
func (s *svgPicture) laneGrounds() {
	for i, row := range s.rows {
		y := s.y(i)
		fmt.Fprintf(s.w, `<rect class="lane" x="%d" y="%d" width="%d" height="%d"/>`+"\n", s.left, y, s.right-s.left, s.laneH)
		if i%s.labelEvery != 0 {
			continue
		}
		y += s.laneH/2 + 4
		fmt.Fprintf(s.w, `<text class="r" x="%d" y="%d">%s</text>`, s.left-10, y, escape(row.label))
		fmt.Fprintf(s.w, `<text class="r" x="%d" y="%d">%s</text>`, s.busyX, y, row.busy)
		if s.memory {
			fmt.Fprintf(s.w, `<text class="dim r" x="%d" y="%d">%s</text>`, s.peakX, y, escape(row.peak))
		}
		fmt.Fprintln(s.w)
	}
}

// axis draws the grid behind the operations and the times below it.
func (s *svgPicture) axis() {
	width := s.right - s.left
	longest := textWidth(s.unit.Format(int64(s.end)))
	for _, m := range marks(s.unit, s.end, width/max(longest+20, 60)) {
		x := s.left + m.position(s.end, width)
		fmt.Fprintf(s.w, `<path class="grid" d="M%d.5 %dV%d"/><text class="dim m" x="%[1]d" y="%[4]d">%[5]s</text>`+"\n",
			x, headHeight-4, s.bottom+4, s.bottom+18, m.label)
	}
	name := "time in " + s.unit.Plural()
	fmt.Fprintf(s.w, `<text class="dim r" x="%d" y="%d">%s</text>`+"\n", s.left-10, s.bottom+18, escape(name))
}

// drawLegend draws a patch for each kind, divided by chunk.
func (s *svgPicture) drawLegend() {
	x := s.left
	for _, k := range s.kinds {
		chunks := s.first.most
		if k.IsTransfer() {
			chunks = 1
		}
		patch := max(14/chunks, 4)
		for chunk := range chunks {
			fmt.Fprintf(s.w, `<rect class="%s" x="%d" y="%d" width="%d" height="12"/>`, class{k, chunk}.name(), x, s.legendY-10, patch)
			x += patch
		}
		fmt.Fprintf(s.w, `<text x="%d" y="%d">%s</text>`+"\n", x+6, s.legendY, escape(s.first.kindName(k)))
		x += 6 + textWidth(s.first.kindName(k)) + 18
	}
	if notes := s.notes(); notes != nil {
		fmt.Fprintf(s.w, `<text class="dim" x="%d" y="%d">%s</text>`+"\n", x, s.legendY, strings.Join(notes, "; "))
	}
}

// notes explains what the patches of the legend do not.
func (s *svgPicture) notes() (notes []string) {
	if s.ops > mostShapes {
		return []string{fmt.Sprintf("%d operations, in proportion where narrower than a pixel", s.ops)}
	}
	if s.first.most > 1 {
		notes = append(notes, "paler: later chunks of a device")
	}
	if slices.ContainsFunc(s.first.p.Rows, isGang) {
		notes = append(notes, "outlined: on several devices at once")
	}
	return notes
}

// isGang reports whether the operations of a row are work of several devices.
func isGang(row model.Row) bool { return len(row.Devices) > 1 && !row.Kind.IsTransfer() }

// escape makes text safe for XML; characters that XML cannot hold are replaced.
func escape(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text)) // a Builder returns no error
	return b.String()
}
