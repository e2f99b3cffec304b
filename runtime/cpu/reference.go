package cpu

import (
	"context"
	"fmt"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
)

// A Reference trains a network by one goroutine: operation after operation, with neither
// devices nor messages. It is what the gradients of a pipeline are compared with, and how
// operations are measured alone.
type Reference struct {
	*trainer
	memory *home
	order  []referenceStep
	// outputs and gradients are those of each stage and micro-batch, allocated once.
	outputs, gradients [][][]float32
}

// referenceStep is an operation of a stage.
type referenceStep struct {
	kind       model.Kind
	stage      *stage
	microBatch int
}

// Unpipelined returns a reference for the network of a blueprint whatever its stages: each
// part of the network is one stage, nothing is recomputed, and each micro-batch runs forward
// and backward before the next one starts. Errors are those of [Open] for the blueprint.
func Unpipelined(b *network.Blueprint, microBatches int, o Options) (*Reference, error) {
	l, err := newLayout(b)
	if err != nil {
		return nil, err
	}
	whole := *b
	whole.Stages = nil
	for p := range l.parts {
		whole.Stages = append(whole.Stages, network.Slice{Part: p, End: len(l.parts[p].Layers)})
	}
	if l, err = newLayout(&whole); err != nil {
		return nil, err
	}
	r := newReference(l, microBatches, make([]copyPlan, len(l.stages)), o)
	for m := range microBatches {
		for s := range l.stages {
			r.add(model.Forward, s, 0, m)
		}
		for s := len(l.stages) - 1; s >= 0; s-- {
			r.add(model.BackwardInput, s, 0, m)
			r.add(model.BackwardWeight, s, 0, m)
		}
	}
	return r, nil
}

// Replay returns a reference that runs the operations of a plan in one order that keeps the
// order of each device. Errors are those of [Open], and one if there is no such order.
func Replay(p *model.Problem, plan *model.Plan, b *network.Blueprint, o Options) (*Reference, error) {
	l, err := newLayout(b)
	if err != nil {
		return nil, err
	}
	if err := l.fits(p); err != nil {
		return nil, err
	}
	plans := copyPlans(p.Pipeline)
	r := newReference(l, p.MicroBatches(), plans, o)
	sequence, err := sequence(p, plan)
	if err != nil {
		return nil, err
	}
	for _, op := range sequence {
		if row := p.Row(op); !row.Kind.IsTransfer() {
			r.add(row.Kind, row.Stage, plans[row.Stage].byRoute[row.Route], p.MicroBatch(op))
		}
	}
	return r, nil
}

// sequence returns the operations of a plan in an order that keeps that of each device, and
// in which each comes after those it waits for. Further waits of the plan are left out: they
// change no sum.
func sequence(p *model.Problem, plan *model.Plan) ([]model.OpID, error) {
	held, done := model.NewOpSet(p), model.NewOpSet(p)
	for _, order := range plan.Order {
		for _, op := range order {
			held.Add(op)
		}
	}
	var list []model.OpID
	at := make([]int, len(plan.Order))
	for moved := true; moved; {
		moved = false
		for d, order := range plan.Order {
			for at[d] < len(order) && ready(p, held, done, order[at[d]]) {
				if op := order[at[d]]; !done.Has(op) {
					list = append(list, op)
					done.Add(op)
				}
				at[d]++
				moved = true
			}
		}
	}
	for d, order := range plan.Order {
		if at[d] < len(order) {
			return nil, fmt.Errorf("the orders of the plan contradict each other: %s never gets ready", p.Name(order[at[d]]))
		}
	}
	return list, nil
}

// ready reports whether all that an operation waits for is done, of what the plan holds.
func ready(p *model.Problem, held, done model.OpSet, op model.OpID) bool {
	row := p.RowOf(op)
	for _, pred := range p.Rows[row].Preds {
		first, end := p.PredOps(row, p.Index(op), pred)
		for q := first; q < end; q++ {
			if held.Has(q) && !done.Has(q) {
				return false
			}
			if twin := p.Rows[pred.Row].Twin; !held.Has(q) && twin >= 0 && !done.Has(p.Op(int(twin), p.MicroBatch(q))) {
				return false
			}
		}
	}
	return true
}

func newReference(l *layout, microBatches int, plans []copyPlan, o Options) *Reference {
	r := &Reference{memory: &home{memory: newAllocator()}}
	homes := make([][]*home, len(l.stages))
	for s := range homes {
		for range max(1, len(plans[s].devices)) {
			homes[s] = append(homes[s], r.memory)
		}
		outputs, gradients := make([][]float32, microBatches), make([][]float32, microBatches)
		for m := range outputs {
			outputs[m], gradients[m] = make([]float32, l.outputOf(s)), make([]float32, l.outputOf(s))
		}
		r.outputs, r.gradients = append(r.outputs, outputs), append(r.gradients, gradients)
	}
	r.trainer = newTrainer(l, microBatches, homes, o)
	return r
}

func (r *Reference) add(kind model.Kind, s, copy, m int) {
	r.order = append(r.order, referenceStep{kind, r.copies[s][copy], m})
}

// Iterate runs an iteration with its optimizer step, and returns the loss. Errors are a
// *NonFiniteError and the cause of an end of ctx.
func (r *Reference) Iterate(ctx context.Context, iteration int) (loss float64, err error) {
	r.memory.memory.restart()
	r.begin(iteration)
	for i := range r.order {
		if err := r.run(ctx, &r.order[i]); err != nil {
			return 0, err
		}
	}
	return r.finish()
}

func (r *Reference) run(ctx context.Context, step *referenceStep) error {
	s, m := step.stage, step.microBatch
	at := &r.layout.stages[s.number]
	var in, din [][]float32
	for _, q := range at.before {
		in, din = append(in, r.outputs[q][m]), append(din, r.gradients[q][m])
	}
	if step.kind == model.Forward {
		return s.forward(ctx, m, in, r.outputs[s.number][m])
	}
	if step.kind != model.BackwardWeight {
		if err := s.backwardInput(ctx, m, r.gradients[s.number][m], din); err != nil {
			return err
		}
	}
	if step.kind != model.BackwardInput {
		return s.backwardWeight(ctx, m)
	}
	return nil
}

// Parameters is as that of a [Backend].
func (r *Reference) Parameters() []Parameter { return r.parameters() }

// Times is as that of a [Backend].
func (r *Reference) Times() []LayerTime { return r.times() }
