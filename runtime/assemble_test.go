package runtime_test

import (
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// assemble writes the programs of a plan as they come: what an operation consumes is
// received just before it, what it put out is sent just after it. It looks at nothing, so
// that tests get programs that no check would let through.
func assemble(p *model.Problem, plan *model.Plan) *lower.Program {
	pr := &lower.Program{Problem: p, Plan: plan, Devices: make([][]lower.Instr, p.NumDevices())}
	held := model.NewOpSet(p)
	for _, order := range plan.Order {
		for _, op := range order {
			held.Add(op)
		}
	}
	receives, sends := map[[2]int32][]int32{}, map[[2]int32][]int32{}
	tell := func(from, to model.OpID) {
		sender := p.Row(from).Devices[0]
		for _, d := range p.Row(to).Devices {
			if slices.Contains(p.Row(from).Devices, d) {
				continue
			}
			m := int32(len(pr.Messages))
			pr.Messages = append(pr.Messages, lower.Message{Producer: from, Consumer: to, From: sender, To: d})
			sends[[2]int32{sender, int32(from)}] = append(sends[[2]int32{sender, int32(from)}], m)
			receives[[2]int32{d, int32(to)}] = append(receives[[2]int32{d, int32(to)}], m)
		}
	}
	for op := range model.OpID(p.NumOps()) {
		if !held.Has(op) {
			continue
		}
		for _, pred := range p.Row(op).Preds {
			for _, row := range []int32{pred.Row, p.Rows[pred.Row].Twin} {
				if row < 0 {
					continue
				}
				first, end := p.PredOps(p.RowOf(op), p.Index(op), model.Pred{Row: row})
				for before := first; before < end; before++ {
					if held.Has(before) {
						tell(before, op)
					}
				}
			}
		}
	}
	for _, w := range plan.Waits {
		tell(w.Before, w.After)
	}
	for d, order := range plan.Order {
		for _, op := range order {
			key := [2]int32{int32(d), int32(op)}
			pr.Devices[d] = appendOp(pr.Devices[d], p, int32(d), op, receives[key], sends[key])
		}
	}
	return pr
}

func appendOp(code []lower.Instr, p *model.Problem, d int32, op model.OpID, receives, sends []int32) []lower.Instr {
	memory := func(b model.Bytes) {
		switch {
		case b > 0:
			code = append(code, lower.Instr{Code: lower.Take, Op: op, Message: -1, Bytes: b})
		case b < 0:
			code = append(code, lower.Instr{Code: lower.Give, Op: op, Message: -1, Bytes: -b})
		}
	}
	var delta model.Delta
	if row := p.Row(op); row.Memory != nil {
		delta = row.Memory[slices.Index(row.Devices, d)]
	}
	for _, m := range receives {
		code = append(code, lower.Instr{Code: lower.Receive, Op: op, Message: m})
	}
	memory(delta.AtStart)
	code = append(code, lower.Instr{Code: lower.Compute, Op: op, Message: -1})
	memory(delta.AtEnd)
	for _, m := range sends {
		code = append(code, lower.Instr{Code: lower.Send, Op: op, Message: m})
	}
	return code
}

// orders makes a plan from names.
func orders(p *model.Problem, text ...[]string) *model.Plan {
	plan := &model.Plan{}
	for _, names := range text {
		order := make([]model.OpID, len(names))
		for i, name := range names {
			op, err := p.ParseOp(name)
			if err != nil {
				panic(err)
			}
			order[i] = op
		}
		plan.Order = append(plan.Order, order)
	}
	return plan
}
