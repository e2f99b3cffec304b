package config

import "strings"

// column is a value per stage, or per device: what one key gives to each of them.
type column[T any] struct {
	at    value     // where the key stands
	cells []cell[T] // one per stage
}

// cell is one entry of a column.
type cell[T any] struct {
	at    value // the entry, or the key when it gives one value to all
	value *T    // nil when absent
}

// or returns the value of the cell, or fallback when it is absent.
func (c cell[T]) or(fallback T) T {
	if c.value == nil {
		return fallback
	}
	return *c.value
}

// perStage reads a key that gives one value to all of count stages, or a list with
// one value per stage. noun names the values in a message: "stage cost".
func perStage[T any](v value, count int, noun string, read func(value) (T, bool)) (column[T], bool) {
	if v.listed() {
		return perStageList(v, count, noun, read)
	}
	one := cell[T]{at: v}
	if !v.absent() {
		x, ok := read(v)
		if !ok {
			return column[T]{}, false
		}
		one.value = &x
	}
	col := column[T]{at: v, cells: make([]cell[T], count)}
	for i := range col.cells {
		col.cells[i] = one
	}
	return col, true
}

// perStageList is perStage for a list. It stops at the first entry that cannot be read.
func perStageList[T any](v value, count int, noun string, read func(value) (T, bool)) (column[T], bool) {
	owner, _, _ := strings.Cut(noun, " ")
	if !v.ofLength(count, noun, "give one per "+owner+", or a single value for all") {
		return column[T]{}, false
	}
	col := column[T]{at: v, cells: make([]cell[T], count)}
	for i := range col.cells {
		item := v.item(i)
		col.cells[i].at = item
		if item.none() {
			continue
		}
		x, ok := read(item)
		if !ok {
			return column[T]{}, false
		}
		col.cells[i].value = &x
	}
	return col, true
}

// ofLength reports whether the list v has one entry for each of count owners, and
// fails if not. noun names an entry; its first word is the owner.
func (v value) ofLength(count int, noun, remedy string) bool {
	if len(v.node.Content) == count {
		return true
	}
	owner, _, _ := strings.Cut(noun, " ")
	v.fail(plural(len(v.node.Content), noun)+" for "+plural(count, owner), remedy)
	return false
}

// failAbsent records that the cell needs a value.
func (c cell[T]) failAbsent(remedy string) {
	if c.at.missing {
		c.at.failMissing(remedy)
	} else {
		c.at.fail("none is not possible here", remedy)
	}
}
