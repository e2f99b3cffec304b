package main

import (
	"slices"
	"strings"
	"testing"
)

func TestStageList(t *testing.T) {
	for _, c := range []struct {
		stages []int
		want   string
	}{
		{nil, "none"},
		{[]int{0, 7}, "0 7"},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7}, "0 1 2 3 4 5 6 7"},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, "0 1 2 3 4 5 ... 9"},
	} {
		if got := stageList(c.stages); got != c.want {
			t.Errorf("stageList(%v) = %q, want %q", c.stages, got, c.want)
		}
	}
}

func TestWrapped(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 5, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"unbreakable", 3, []string{"unbreakable"}},
		{"流水线 计划", 6, []string{"流水线", "计划"}},
		{"\x1b[31mred\x1b[0m ink", 7, []string{"\x1b[31mred\x1b[0m ink"}},
	} {
		if got := wrapped(c.text, c.width); !slices.Equal(got, c.want) {
			t.Errorf("wrapped(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// TestPrintTable demands that columns beyond the width move below.
func TestPrintTable(t *testing.T) {
	wide := func(name string) column { return column{name: name, cells: []string{strings.Repeat("9", 30)}} }
	var b strings.Builder
	printTable(&b, column{name: "device", left: true, cells: []string{"0"}}, wide("a"), wide("b"), wide("c"), wide("d"))
	nines := strings.Repeat("9", 30)
	gap := strings.Repeat(" ", 29)
	want := "device  " + gap + "a  " + gap + "b\n0       " + nines + "  " + nines + "\n\n" +
		"device  " + gap + "c  " + gap + "d\n0       " + nines + "  " + nines + "\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
