package lower

import (
	"slices"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// complete notes what the plan holds and when it runs at the earliest. Evaluate refuses
// operations that do not exist, stand twice, or are not in the order of each of their
// devices.
func (l *lowering) complete() error {
	tl, err := model.Evaluate(l.p, l.plan)
	if err != nil {
		return err
	}
	l.timeline, l.present = tl, model.NewOpSet(l.p)
	for _, order := range l.plan.Order {
		for _, op := range order {
			l.present.Add(op)
		}
	}
	if len(l.plan.Waits) > 0 {
		l.waits = make(map[model.OpID][]model.OpID, len(l.plan.Waits))
		for _, w := range l.plan.Waits {
			l.waits[w.After] = append(l.waits[w.After], w.Before)
		}
	}
	l.cargo = cargo(l.p)
	return l.lacking()
}

// lacking looks for an operation that the plan should hold, or should not.
func (l *lowering) lacking() error {
	for r := range l.p.Rows {
		if l.p.Rows[r].Choice != model.Always {
			continue
		}
		for i := range l.p.Count(r) {
			if op := l.p.Base(r) + model.OpID(i); !l.present.Has(op) {
				return l.planError(op, "is missing")
			}
		}
	}
	for a := range constraints.Alternatives(l.p) {
		for i := range l.p.Count(int(a.Fused)) {
			fused := l.p.Base(int(a.Fused)) + model.OpID(i)
			for _, row := range a.Split {
				half := l.p.Base(int(row)) + model.OpID(i)
				switch {
				case l.present.Has(half) && l.present.Has(fused):
					return l.planError(half, "stands beside "+l.p.Name(fused)+", which does the same; delete one of them")
				case !l.present.Has(half) && !l.present.Has(fused):
					return l.planError(half, "is missing, and so is "+l.p.Name(fused)+" in its place")
				}
			}
		}
	}
	return nil
}

func (l *lowering) planError(op model.OpID, problem string) error {
	d := int(l.p.Row(op).Devices[0])
	at := slices.Index(l.plan.Order[d], op)
	if at < 0 {
		at = len(l.plan.Order[d])
	}
	return &model.PlanError{Device: d, Position: at, Op: l.p.Name(op), Problem: problem}
}

// checkComplete counts the entries of the orders again.
func (l *lowering) checkComplete() error {
	entries, want := l.plan.NumOps(), 0
	for r := range l.p.Rows {
		for i := range l.p.Count(r) {
			if l.present.Has(l.p.Base(r) + model.OpID(i)) {
				want += len(l.p.Rows[r].Devices)
			}
		}
	}
	return same("entries of the orders", entries, want)
}
