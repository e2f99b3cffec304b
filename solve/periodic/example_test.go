package periodic_test

import (
	"context"
	"fmt"

	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve/periodic"
)

// Two chunks on each of four devices, and memory for half of what one-forward-one-
// backward takes: no device is ever idle between warm-up and cool-down.
func ExampleFind() {
	p := modelgen.Problem(vshape(4, 100, 1, 1, 1, 0, 4))
	pattern, err := periodic.Find(context.Background(), p, periodic.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("period", pattern.Period, "span", pattern.Span, "proved", pattern.Proved)
	// Output: period 6 span 17 proved true
}
