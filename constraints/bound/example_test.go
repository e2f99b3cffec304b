package bound_test

import (
	"fmt"

	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

func ExampleLower() {
	s := modelgen.Spec{Devices: 4, MicroBatches: 8}
	b := bound.Lower(modelgen.Problem(s))
	fmt.Printf("%d (%v): %s\n", b.Value, b.Kind, b.Reason)

	s.Activation, s.Limit = []model.Bytes{1}, []model.Bytes{3}
	b = bound.Lower(modelgen.Problem(s))
	fmt.Printf("%d (%v): %s\n", b.Value, b.Kind, b.Reason)
	// Output:
	// 27 (machine): device 3 is busy for 24 ticks, which cannot begin before 3 ticks
	// 31 (memory): operations of device 2 that take 2 ticks cannot begin before 14 ticks, and 15 ticks must follow them, as memory limits make operations wait
}
