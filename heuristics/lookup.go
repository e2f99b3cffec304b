package heuristics

import (
	"fmt"
	"strings"
)

// UnknownScheduleError reports a name that no schedule has.
type UnknownScheduleError struct {
	Name  string
	Near  string // the known name closest to it, "" if none is close
	Known []string
}

func (e *UnknownScheduleError) Error() string {
	hint := ""
	if e.Near != "" {
		hint = fmt.Sprintf(", did you mean %q?", e.Near)
	}
	return fmt.Sprintf("unknown schedule %q%s (known: %s)", e.Name, hint, strings.Join(e.Known, ", "))
}

// Lookup returns the schedule of that name, or an *UnknownScheduleError.
func Lookup(name string) (Schedule, error) {
	all := Schedules()
	unknown := &UnknownScheduleError{Name: name}
	near := 3 // edits from which on two names have nothing in common
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		unknown.Known = append(unknown.Known, s.Name)
		if d := editDistance(strings.ToLower(name), s.Name); d < near {
			unknown.Near, near = s.Name, d
		}
	}
	return Schedule{}, unknown
}

// editDistance is the number of insertions, deletions and replacements of a
// byte that turn a into b (Levenshtein 1966).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
