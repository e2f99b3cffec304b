package heuristics

import (
	"context"
	"errors"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
)

// Limits of the search for a plan that takes less memory.
const (
	thriftSteps = 6       // halvings
	thriftTries = 40      // rules decoded for each
	thriftWork  = 1 << 24 // operations decoded
)

// saveMemory looks for a plan of the same value that takes less memory, by
// halving: it asks for a part of the memory beside static that the best plan
// takes, on all devices alike, and decodes the best rules, the openers and
// neighbours of the best under that limit. A plan that takes less leaves room
// for what the model does not know of.
//
// It takes a plan only if that takes less memory in all, and promises neither the
// least nor that no device takes more.
func (s *search) saveMemory(ctx context.Context) error {
	tries := min(thriftTries, thriftWork/thriftSteps/max(1, s.p.NumOps()))
	if tries == 0 || !s.p.ModelsMemory() {
		return nil
	}
	taken, err := s.taken(s.best.Plan)
	if err != nil {
		return err
	}
	fails, holds := 0.0, 1.0
	for range thriftSteps {
		part := (fails + holds) / 2
		found, err := s.within(ctx, taken, part, tries)
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return nil
		case found:
			holds = part
		default:
			fails = part
		}
	}
	return nil
}

// taken returns what a plan takes on each device beside static memory.
func (s *search) taken(plan *model.Plan) ([]model.Bytes, error) {
	m, err := s.measure(plan)
	if err != nil {
		return nil, err
	}
	taken := make([]model.Bytes, s.p.NumDevices())
	for d, dm := range m.Devices {
		taken[d] = dm.Peak - s.p.Statics[d]
	}
	return taken, nil
}

// within looks for a plan that is as good as the best and takes no more than a
// part of the memory, or what a micro-batch alone needs where that is more.
func (s *search) within(ctx context.Context, taken []model.Bytes, part float64, tries int) (bool, error) {
	limits := make([]model.Bytes, len(taken))
	for d := range limits {
		limits[d] = s.p.Statics[d] + model.Bytes(part*float64(taken[d]))
	}
	recipes := s.thrifty(tries)
	for i := 0; i < len(recipes) && ctx.Err() == nil; {
		rule := recipes[i].rule(s.p, s.outline)
		rule.Memory = limits
		out, err := s.decoder(0).Decode(ctx, rule, s.best.Value+1)
		var memory *cssr.MemoryError
		switch {
		case errors.As(err, &memory) && memory.Need <= s.p.Statics[memory.Device]+taken[memory.Device]:
			limits[memory.Device] = memory.Need
			continue
		case errors.As(err, &memory) || err != nil && ctx.Err() != nil:
			return false, nil
		case err != nil:
			return false, err
		}
		if i++; out == nil {
			continue
		}
		plan := out.Clone()
		m, err := s.measure(plan)
		if err != nil {
			return false, err
		}
		improves, err := s.improves(m)
		if err != nil {
			return false, err
		}
		if !improves {
			continue
		}
		s.best = &Result{Plan: plan, Value: m.Value(s.p.Pipeline.Objective), Rule: recipes[i-1].String() + ", less memory"}
		return true, nil
	}
	return false, nil
}

// thrifty lists recipes to try under less memory.
func (s *search) thrifty(n int) []recipe {
	var list []recipe
	for _, r := range s.elite {
		list = append(list, r.recipe)
	}
	list = append(list, openers(s.p)...)
	for len(list) < n {
		list = append(list, s.elite[s.random.IntN(len(s.elite))].recipe.mutate(s.p, s.random))
	}
	return list[:n]
}
