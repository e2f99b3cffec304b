package lower_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/runtime/lower"
	"pgregory.net/rapid"
)

// drawPlan draws a pipeline with all that a pipeline can have, and a plan of it with a few
// wait edges along the sequence in which the plan was made.
func drawPlan(t *rapid.T) (*model.Problem, *model.Plan) {
	seed := rapid.Uint64().Draw(t, "seed")
	p, err := model.Compile(modelgen.RandomPipeline(seed, 5))
	if err != nil {
		t.Fatal(err)
	}
	plan, sequence := modelgen.RandomPlan(p, seed)
	r := rand.New(rand.NewPCG(seed, 7))
	for range min(r.IntN(4), len(sequence)-1) {
		i := r.IntN(len(sequence) - 1)
		j := i + 1 + r.IntN(len(sequence)-i-1)
		plan.Waits = append(plan.Waits, model.Wait{Before: sequence[i], After: sequence[j]})
	}
	return p, plan
}

func lowered(t *rapid.T) *lower.Program {
	p, plan := drawPlan(t)
	g, err := lower.Lower(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestRandomRuns: what is lowered runs under the models that it is made for.
func TestRandomRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := lowered(t)
		for _, c := range []lower.Channels{lower.Buffered, lower.InOrder} {
			if err := g.Simulate(c); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestRandomMemory: the running sum of what a device takes and gives has the peak that the
// plan has, and ends where it began.
func TestRandomMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := lowered(t)
		tl, err := model.Evaluate(g.Problem, g.Plan)
		if err != nil {
			t.Fatal(err)
		}
		m := model.Measure(g.Problem, g.Plan, tl)
		for d, program := range g.Devices {
			static := g.Problem.Statics[d]
			held, peak := static, static
			for _, in := range program {
				switch in.Code {
				case lower.Take:
					held += in.Bytes
				case lower.Give:
					held -= in.Bytes
				}
				peak = max(peak, held)
			}
			if held != static || peak != m.Devices[d].Peak {
				t.Fatalf("device %d has a peak of %d and ends with %d, want %d and %d", d, peak, held, m.Devices[d].Peak, static)
			}
		}
	})
}

// cargo is what one operation needs of another one on one of its devices.
type cargo struct {
	producer, consumer model.OpID
	device             int32
	carries            lower.Carries
}

// wantCargo derives from the stages of the pipeline, not from the rows' predecessors, what
// has to travel.
func wantCargo(p *model.Problem, plan *model.Plan) map[cargo]int {
	held := model.NewOpSet(p)
	for _, order := range plan.Order {
		for _, op := range order {
			held.Add(op)
		}
	}
	type key struct{ stage, microBatch int }
	forward, input := map[key]model.OpID{}, map[key]model.OpID{} // who makes the output, the gradient of the input
	for op := range model.OpID(p.NumOps()) {
		row := p.Row(op)
		if !held.Has(op) || row.Stage < 0 {
			continue
		}
		switch at := (key{row.Stage, p.MicroBatch(op)}); row.Kind {
		case model.Forward:
			forward[at] = op
		case model.BackwardInput, model.BackwardFull:
			input[at] = op
		}
	}
	want := map[cargo]int{}
	bring := func(from, to model.OpID, c lower.Carries) {
		for _, d := range p.Row(to).Devices {
			if !slices.Contains(p.Row(from).Devices, d) {
				want[cargo{from, to, d, c}]++
			}
		}
	}
	for op := range model.OpID(p.NumOps()) {
		row := p.Row(op)
		if !held.Has(op) || row.Kind > model.BackwardFull {
			continue
		}
		m := p.MicroBatch(op)
		if row.Kind == model.Forward {
			for _, q := range p.Pipeline.Stages[row.Stage].After {
				bring(forward[key{q, m}], op, lower.Output)
			}
			continue
		}
		if own, ok := input[key{row.Stage, m}]; ok && own != op {
			continue // the weight gradient behind the one that had the gradient
		}
		for s, st := range p.Pipeline.Stages {
			if from, ok := input[key{s, m}]; ok && slices.Contains(st.After, row.Stage) {
				bring(from, op, lower.Gradient)
			}
		}
	}
	return want
}

// TestRandomCargo: each output and gradient that crosses devices is one message, and no
// other message brings anything.
func TestRandomCargo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := lowered(t)
		want := wantCargo(g.Problem, g.Plan)
		for _, m := range g.Messages {
			if !slices.Contains(g.Problem.Row(m.Producer).Devices, m.From) || !slices.Contains(g.Problem.Row(m.Consumer).Devices, m.To) {
				t.Fatalf("%v is not between devices of its operations", m)
			}
			if m.Carries == lower.Nothing {
				continue
			}
			at := cargo{m.Producer, m.Consumer, m.To, m.Carries}
			if want[at] != 1 {
				t.Fatalf("%s to %s: want %d messages like %v", g.Problem.Name(m.Producer), g.Problem.Name(m.Consumer), want[at], m)
			}
			delete(want, at)
		}
		for at := range want {
			t.Fatalf("nothing brings %v from %s to %s", at, g.Problem.Name(at.producer), g.Problem.Name(at.consumer))
		}
	})
}

// TestRandomKnowledge: whenever an operation starts, all that it waits for has ended as
// far as its devices know: by what they did themselves and by what they received.
func TestRandomKnowledge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := lowered(t)
		p := g.Problem
		before := precedences(g)
		known := make([]model.OpSet, p.NumDevices()) // by device: operations that it knows have ended
		mail := make([]model.OpSet, len(g.Messages)) // what the sender knew
		for d := range known {
			known[d] = model.NewOpSet(p)
		}
		err := execute(g, lower.Buffered, func(d int, in lower.Instr) {
			switch in.Code {
			case lower.Send:
				mail[in.Message] = slices.Clone(known[d])
			case lower.Receive:
				union(known[d], mail[in.Message])
			case lower.Compute:
				devices := p.Row(in.Op).Devices
				all := model.NewOpSet(p) // a gang meets: its devices tell each other
				for _, other := range devices {
					union(all, known[other])
				}
				for _, q := range before[in.Op] {
					if !all.Has(q) {
						t.Fatalf("%s starts, and nobody there knows of the end of %s", p.Name(in.Op), p.Name(q))
					}
				}
				all.Add(in.Op)
				for _, other := range devices {
					union(known[other], all)
				}
			}
		})
		if err != runs {
			t.Fatal(err)
		}
	})
}

func union(dst, src model.OpSet) {
	for i := range dst {
		dst[i] |= src[i]
	}
}

// precedences lists what each operation waits for.
func precedences(g *lower.Program) map[model.OpID][]model.OpID {
	p, held := g.Problem, model.NewOpSet(g.Problem)
	for _, order := range g.Plan.Order {
		for _, op := range order {
			held.Add(op)
		}
	}
	all := map[model.OpID][]model.OpID{}
	add := func(q, op model.OpID) {
		if twin := p.Row(q).Twin; !held.Has(q) && twin >= 0 {
			q = p.Base(int(twin)) + model.OpID(p.Index(q))
		}
		if held.Has(q) && held.Has(op) {
			all[op] = append(all[op], q)
		}
	}
	for op := range model.OpID(p.NumOps()) {
		r := p.RowOf(op)
		for _, pred := range p.Rows[r].Preds {
			first, end := p.PredOps(r, p.Index(op), pred)
			for q := first; q < end; q++ {
				add(q, op)
			}
		}
	}
	for _, w := range g.Plan.Waits {
		add(w.Before, w.After)
	}
	return all
}

// TestRandomLateness: a Receive stands before its consumer, and cannot stand behind the next
// Compute of its device: either that consumes it, directly or by a transfer, or a message
// that left later would overtake it.
func TestRandomLateness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := lowered(t)
		for d := range g.Devices {
			for step, in := range g.Devices[d] {
				if in.Code == lower.Receive && !late(g, d, step) {
					t.Fatalf("device %d could receive message %d later than at step %d", d, in.Message, step)
				}
			}
		}
	})
}

// late moves a Receive behind the next Compute and everything of it, and says whether that
// breaks something.
func late(g *lower.Program, d, step int) bool {
	program := g.Devices[d]
	m := g.Messages[program[step].Message]
	next := step
	for next < len(program) && program[next].Code != lower.Compute {
		next++
	}
	if next == len(program) {
		return false // there is no consumer behind it
	}
	if op := program[next].Op; op == m.Consumer || carriedBy(g.Problem, op, m) {
		return true
	}
	moved := *g
	moved.Devices = slices.Clone(g.Devices)
	moved.Devices[d] = slices.Concat(program[:step], program[step+1:next+1], program[step:step+1], program[next+1:])
	var mismatch *lower.Mismatch
	return errors.As(moved.Simulate(lower.InOrder), &mismatch)
}

// carriedBy reports whether op is the blocking transfer by which a message travels.
func carriedBy(p *model.Problem, op model.OpID, m lower.Message) bool {
	row, from, to := p.Row(op), p.Row(m.Producer), p.Row(m.Consumer)
	return m.Carries != lower.Nothing && row.Kind.IsTransfer() && row.Stage == from.Stage && row.To == to.Stage &&
		(row.Kind == model.SendForward) == (m.Carries == lower.Output) && p.MicroBatch(op) == p.MicroBatch(m.Consumer)
}
