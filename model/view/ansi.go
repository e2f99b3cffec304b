package view

import (
	"bufio"
	"strconv"

	"github.com/flexpipe/flexpipe/model"
)

// styledLine writes text, on coloured background if colour is on.
type styledLine struct {
	w     *bufio.Writer
	color bool
	now   int // current background, 0: none
}

// write writes text in the colour of a class; nil is no colour.
func (l *styledLine) write(text string, c *class) {
	want := 0
	if l.color && c != nil {
		want = background(*c)
	}
	if want != l.now {
		if want == 0 {
			l.w.WriteString("\x1b[0m")
		} else {
			l.w.WriteString("\x1b[38;5;16;48;5;" + strconv.Itoa(want) + "m")
		}
		l.now = want
	}
	l.w.WriteString(text)
}

func (l *styledLine) end() { l.write("", nil) }

// shades are colours of the 256-colour palette, from the first chunk to later
// ones, all bright enough for black text.
var shades = map[model.Kind][]int{
	model.Forward:        {75, 111, 153, 117},
	model.BackwardInput:  {71, 108, 151, 114},
	model.BackwardFull:   {71, 108, 151, 114},
	model.BackwardWeight: {178, 221, 229, 186},
	model.SendForward:    {246},
	model.SendBackward:   {250},
}

var otherShades = []int{140, 176, 182, 146}

func background(c class) int {
	list, ok := shades[c.kind]
	if !ok {
		list = otherShades
	}
	return list[c.chunk%len(list)]
}
