package profile

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// Serial returns a plan with the orders of a program in which only one operation runs at a time,
// whatever the device: each waits for the one before it in the global order of the program. What
// operations take in it is what they take alone.
func Serial(program *lower.Program) *model.Plan {
	serial := &model.Plan{Order: program.Plan.Order, Waits: slices.Clone(program.Plan.Waits)}
	all := program.Order
	for i := 1; i < len(all); i++ {
		serial.Waits = append(serial.Waits, model.Wait{Before: all[i-1], After: all[i]})
	}
	return serial
}
