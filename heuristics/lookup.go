package heuristics

import (
	"fmt"
	"strings"

	"github.com/flexpipe/flexpipe/model"
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
	unknown := &UnknownScheduleError{Name: name}
	for _, s := range Schedules() {
		if s.Name == name {
			return s, nil
		}
		unknown.Known = append(unknown.Known, s.Name)
	}
	unknown.Near = model.Nearest(strings.ToLower(name), unknown.Known)
	return Schedule{}, unknown
}
