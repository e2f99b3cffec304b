package view

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

const (
	// mostShapes is the number of operations up to which each is a shape of its own.
	mostShapes = 20_000
	// mostPixels bounds the columns of all lanes together beyond that.
	mostPixels = 400_000
)

// hundredths writes a length of n hundredths of a pixel.
func hundredths(n int64) string {
	switch {
	case n%100 == 0:
		return fmt.Sprint(n / 100)
	case n%10 == 0:
		return fmt.Sprintf("%d.%d", n/100, n/10%10)
	default:
		return fmt.Sprintf("%d.%02d", n/100, n%100)
	}
}

// shapes draws a rectangle with a tooltip for each operation, then the numbers
// of those that are wide enough.
func (s *svgPicture) shapes() {
	scale := newScale(s.end, 100*(s.right-s.left))
	for i, row := range s.rows {
		fmt.Fprintf(s.w, `<g transform="translate(%d,%d)">`+"\n", s.left, s.y(i))
		for _, op := range row.orders[row.device] {
			s.shape(scale, row, op)
		}
		s.numbers(scale, row)
		fmt.Fprint(s.w, "</g>\n")
	}
}

// extent returns left edge and width of an operation, in hundredths of a pixel.
// A sliver between wide neighbours keeps them apart.
func (r svgRow) extent(sc scale, op model.OpID) (x, width int64) {
	start, end := r.span(op)
	x = sc.at(start)
	width = sc.at(end) - x
	if width > 400 {
		width -= 80
	}
	return x, max(width, 30)
}

func (s *svgPicture) shape(sc scale, row svgRow, op model.OpID) {
	x, width := row.extent(sc, op)
	corner := ""
	if width > 600 && s.laneH > 10 {
		corner = ` rx="2"`
	}
	class := row.class(row.device, op).name()
	if isGang(*row.p.Row(op)) {
		class += " gang"
	}
	fmt.Fprintf(s.w, `<rect class="%s" x="%s" width="%s" height="%d"%s><title>%s</title></rect>`+"\n",
		class, hundredths(x), hundredths(width), s.laneH, corner, escape(row.tooltip(s.unit, op)))
}

// tooltip says what an operation is and when it runs.
func (r svgRow) tooltip(unit model.Unit, op model.OpID) string {
	row := r.p.Row(op)
	text := r.p.Name(op) + " " + r.kindName(row.Kind)
	if r.most > 1 && row.Stage >= 0 {
		text += fmt.Sprintf(" of stage %d", row.Stage)
	}
	if isGang(*row) {
		text += fmt.Sprintf(" on %d devices", len(row.Devices))
	}
	start, end := r.span(op)
	return fmt.Sprintf("%s, %s to %s", text, unit.Format(int64(start)), unit.Amount(int64(end)))
}

func (s *svgPicture) numbers(sc scale, row svgRow) {
	if s.laneH < 12 {
		return
	}
	size := min(fontSize, s.laneH-3)
	open := false
	for _, op := range row.orders[row.device] {
		x, width := row.extent(sc, op)
		text := row.number(op, width)
		if text == "" {
			continue
		}
		if !open {
			fmt.Fprintf(s.w, `<g class="n" font-size="%d" pointer-events="none">`+"\n", size)
			open = true
		}
		fmt.Fprintf(s.w, `<text x="%s" y="%d">%s</text>`+"\n", hundredths(x+width/2), s.laneH/2+size*3/8, text)
	}
	if open {
		fmt.Fprint(s.w, "</g>\n")
	}
}

// number returns what fits into the shape of an operation: the micro-batch, with
// the stage in front where devices hold several; the letters of one that runs once.
func (r svgRow) number(op model.OpID, width int64) string {
	row, m := r.p.Row(op), r.p.MicroBatch(op)
	fits := func(text string) bool { return width >= int64(100*textWidth(text)+300) }
	if letters := r.p.Kinds[row.Kind].Letter; m < 0 && fits(letters) {
		return escape(letters)
	}
	if m < 0 || row.Kind.IsTransfer() {
		return ""
	}
	short := fmt.Sprint(m)
	if long := fmt.Sprintf("s%d %s%d", row.Stage, r.p.Kinds[row.Kind].Letter, m); r.most > 1 && row.Stage >= 0 && fits(long) {
		return escape(long)
	}
	if !fits(short) {
		return ""
	}
	return short
}

// pixels draws each lane column by column, as one line of the lane's width for
// each class.
func (s *svgPicture) pixels() {
	width := s.right - s.left
	columns := min(width, max(mostPixels/len(s.rows), 100))
	drawers := make([]*laneDrawer, s.lanes)
	for i := range drawers {
		drawers[i] = newLaneDrawer(s.rows[i].track, s.end, columns)
	}
	classes := s.first.classes(s.kinds)
	at := make(map[class]int, len(classes)) // where the line of a class ends
	paths := make(map[class][]byte, len(classes))
	for i, row := range s.rows {
		clear(at)
		clear(paths)
		drawer := drawers[i%s.lanes]
		runs(drawer.draw(row.device), sameLook, func(first, last int) {
			c := drawer.cells[first]
			if c.op < 0 {
				return
			}
			if _, begun := at[c.class]; begun {
				paths[c.class] = fmt.Appendf(paths[c.class], "m%d 0h%d", first-at[c.class], last-first)
			} else {
				paths[c.class] = fmt.Appendf(paths[c.class], "M%d 0h%d", first, last-first)
			}
			at[c.class] = last
		})
		fmt.Fprintf(s.w, `<g class="s" stroke-width="%d" transform="translate(%d,%s) scale(%s,1)">`,
			s.laneH, s.left, hundredths(int64(100*s.y(i)+50*s.laneH)), ratio(width, columns))
		for _, c := range classes {
			if paths[c] != nil {
				fmt.Fprintf(s.w, `<path class="%s" d="%s"/>`, c.name(), paths[c])
			}
		}
		fmt.Fprint(s.w, "</g>\n")
	}
}

func sameLook(a, b cell) bool {
	return a.op < 0 && b.op < 0 || a.op >= 0 && b.op >= 0 && a.class == b.class
}

// ratio writes a/b with four decimals.
func ratio(a, b int) string { return fmt.Sprintf("%d.%04d", a/b, a%b*10000/b) }
