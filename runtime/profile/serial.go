package profile

import (
	"cmp"
	"slices"

	"github.com/flexpipe/flexpipe/model"
)

// Serial returns a plan with the orders of plan in which only one operation runs at a time,
// whatever the device: each waits for the one before it in the order of earliest starts. What
// operations take in it is what they take alone. Errors are those of [model.Evaluate].
func Serial(p *model.Problem, plan *model.Plan) (*model.Plan, error) {
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		return nil, err
	}
	position := make([]int32, p.NumOps()) // in the order of its device
	var all []model.OpID
	for _, order := range plan.Order {
		for i, op := range order {
			position[op] = int32(i)
		}
	}
	seen := model.NewOpSet(p)
	for _, order := range plan.Order {
		for _, op := range order {
			if !seen.Has(op) {
				seen.Add(op)
				all = append(all, op)
			}
		}
	}
	slices.SortFunc(all, func(a, b model.OpID) int {
		return cmp.Or(cmp.Compare(tl.Start[a], tl.Start[b]), cmp.Compare(tl.End(p, a), tl.End(p, b)),
			cmp.Compare(position[a], position[b]), cmp.Compare(a, b))
	})
	serial := &model.Plan{Order: plan.Order, Waits: slices.Clone(plan.Waits)}
	for i := 1; i < len(all); i++ {
		serial.Waits = append(serial.Waits, model.Wait{Before: all[i-1], After: all[i]})
	}
	return serial, nil
}
