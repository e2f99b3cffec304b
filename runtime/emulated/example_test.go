package emulated_test

import (
	"context"
	"fmt"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/emulated"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// One iteration of two devices. It never takes less than predicted.
func Example() {
	p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 4, Backward: model.Fused})
	plan, _ := modelgen.RandomPlan(p, 1)
	program, err := lower.Lower(p, plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	backend, err := emulated.Open(program, emulated.Options{Tick: time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer backend.Close()
	engine, err := pipert.NewEngine(program, backend.Devices(), pipert.Options{Stall: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := backend.Begin(0); err != nil {
		fmt.Println(err)
		return
	}
	record, err := engine.Run(context.Background())
	if err != nil {
		fmt.Println(err) // says which device was where, and who waited for whom
		return
	}
	timeline, err := model.Evaluate(p, plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	predicted := time.Duration(float64(model.Measure(p, plan, timeline).Makespan) * backend.PerTick())
	fmt.Println(backend.Label())
	fmt.Println("not faster than predicted:", record.Makespan >= predicted)
	// Output:
	// emulated(free) durations=tick:1ms dilation=1
	// not faster than predicted: true
}
