package constraints_test

import (
	"fmt"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

func ExampleCheck() {
	// One stage on one device, two micro-batches; each holds 1 from its forward
	// to its weight gradient, and the device has room for one.
	p := modelgen.Problem(modelgen.Spec{Devices: 1, MicroBatches: 2,
		Activation: []model.Bytes{1}, Limit: []model.Bytes{1}})
	const forward, input, weight = 0, 1, 2
	plan := &model.Plan{Order: [][]model.OpID{{
		p.Op(forward, 0), p.Op(forward, 1), p.Op(input, 0), p.Op(weight, 0), p.Op(input, 1), p.Op(weight, 1),
	}}}
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(constraints.Check(p, plan, tl).Err())
	// Output:
	// memory: device 0 holds 2 at 0F1, limit 1; give back 1 before it
}

func ExamplePrecedences() {
	p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 8, Latency: 3})
	for c := range constraints.Precedences(p) {
		fmt.Printf("%s before %s, lag %d\n", p.Name(p.Base(int(c.Before))), p.Name(p.Base(int(c.After))), c.Lag)
	}
	// Output:
	// 0F0 before 0I0, lag 0
	// 1I0 before 0I0, lag 3
	// 0I0 before 0W0, lag 0
	// 0F0 before 1F0, lag 3
	// 1F0 before 1I0, lag 0
	// 1I0 before 1W0, lag 0
}
