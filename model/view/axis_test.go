package view

import (
	"testing"

	"github.com/flexpipe/flexpipe/model"
)

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		unit model.Unit
		end  model.Time
		room int
		want string
	}{
		{model.Unit{}, 0, 10, "0"},
		{model.Unit{}, 3, 10, "0 1 2 3"},
		{model.Unit{}, 33, 10, "0 5 10 15 20 25 30"},
		{model.Unit{Multiplier: 1, Divisor: 10}, 33, 10, "0.0 0.5 1.0 1.5 2.0 2.5 3.0"},
		{model.Unit{Multiplier: 5}, 3, 20, "0 5 10 15"},
		{model.Unit{Multiplier: 1, Divisor: 1000}, 2, 8, "0.000 0.001 0.002"},
		{model.Unit{}, 1 << 61, 2, "0 2000000000000000000"},
	} {
		got := ""
		for i, m := range marks(c.unit, c.end, c.room) {
			if i > 0 {
				got += " "
			}
			got += m.label
			if at := m.position(c.end, 1000); at < 0 || at > 1000 {
				t.Errorf("mark %s of %d stands at %d", m.label, c.end, at)
			}
		}
		if got != c.want {
			t.Errorf("marks(%v, %d, %d) = %s, want %s", c.unit, c.end, c.room, got, c.want)
		}
	}
}

func TestScaleKeepsOrderAndEnds(t *testing.T) {
	for _, end := range []model.Time{1, 7, 1000, 1<<40 + 1, 1 << 61} {
		s := newScale(end, 1<<17)
		if s.at(0) != 0 || s.at(end) != 1<<17 {
			t.Errorf("0 to %d maps to %d to %d", end, s.at(0), s.at(end))
		}
		if middle := s.at(end/2 + end%2); middle < 1<<16 {
			t.Errorf("the middle of %d maps to %d", end, middle)
		}
	}
}
