package proof

import (
	"bytes"
	"context"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
)

// large is a problem of 1,536 operations: 8 devices with 6 sequences each, 32
// micro-batches.
func large(objective model.Objective) *model.Problem {
	return modelgen.Problem(modelgen.Spec{
		Devices: 8, MicroBatches: 32, Placement: must(model.VPlacement(16, 8)), Objective: objective,
		F: []model.Time{10}, I: []model.Time{11}, W: []model.Time{9}, Latency: 1,
		Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{20},
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// steps has a right use of each rule, as a search would tell it.
func steps(b *testing.B, t *tables) map[string]solve.Step {
	device := int32(3)
	on := t.on[device]
	f, i := &t.sequences[on[0]], &t.sequences[on[1]]
	x := func(s, j int) constraints.Variable { return t.sequences[on[s]].starts[j] }
	positions := func(s, q, j int) constraints.Variable {
		first, ok := t.positions(on[s], on[q])
		if !ok {
			b.Fatal("no pair")
		}
		return first + constraints.Variable(j)
	}
	window := solve.Step{Rule: solve.WindowRule, Device: device, Begin: 100, End: 170}
	for s := range 6 {
		window.Facts = append(window.Facts, least(x(s, 5), 100), most(x(s, 6), 150))
	}
	related := window
	related.Facts = append([]solve.Fact{}, window.Facts[2:]...)
	related.Facts = append(related.Facts, least(x(0, 5), 100), most(positions(0, 1, 6), 6))
	memory := solve.Step{Rule: solve.MemoryRule, Device: device, Op: t.sequences[on[3]].ops[20]}
	for s := range 6 {
		switch {
		case s < 3:
			memory.Facts = append(memory.Facts, least(positions(s, 3, 15), 21), most(positions(s, 3, 14), 20))
		case s > 3:
			memory.Facts = append(memory.Facts, most(positions(3, s, 20), 10))
		}
	}
	fi := positions(0, 1, 7)
	return map[string]solve.Step{
		"edge":     edgeStep(f.starts[7], i.starts[7], least(f.starts[7], 100), most(i.starts[7], 105)),
		"position": edgeStep(f.starts[7], i.starts[4], least(f.starts[7], 100), most(i.starts[4], 105), most(fi, 4)),
		"monotone": {Rule: solve.MonotoneRule, From: fi, To: fi + 1, Facts: []solve.Fact{least(fi, 6), most(fi+1, 5)}},
		"order":    {Rule: solve.OrderRule, From: fi, Facts: []solve.Fact{least(fi, 8)}},
		"cycle":    {Rule: solve.CycleRule, Ops: []model.OpID{f.ops[7], i.ops[7]}, Facts: []solve.Fact{least(fi, 8)}},
		"memory":   memory,
		"window":   window,
		"related":  related,
	}
}

// BenchmarkStep measures a nogood of one step, by rule.
func BenchmarkStep(b *testing.B) {
	c, err := New(large(model.Makespan))
	if err != nil {
		b.Fatal(err)
	}
	for name, step := range steps(b, c.tables) {
		b.Run(name, func(b *testing.B) {
			c.restart()
			for b.Loop() {
				c.begin(step.Facts)
				c.proved = false
				c.step(&step)
				c.assumed.undo()
			}
			if c.Err() != nil {
				b.Fatal(c.Err())
			}
		})
	}
}

// BenchmarkMix measures steps in the proportions of a search: half of them are edges,
// a quarter nogoods told before, one in 15 a window or memory.
func BenchmarkMix(b *testing.B) {
	c, err := New(large(model.Makespan))
	if err != nil {
		b.Fatal(err)
	}
	all := steps(b, c.tables)
	c.Learn(all["position"].Facts, []solve.Step{all["position"]})
	all["learned"] = solve.Step{Rule: solve.LearnedRule}
	var mix []solve.Step
	for name, n := range map[string]int{
		"edge": 10, "position": 5, "learned": 7, "monotone": 3, "order": 2, "cycle": 1, "window": 1, "memory": 1,
	} {
		for range n {
			mix = append(mix, all[name])
		}
	}
	told := c.nogoods[0]
	for b.Loop() {
		for k := range mix {
			facts := mix[k].Facts
			if mix[k].Rule == solve.LearnedRule {
				facts = told
			}
			c.begin(facts)
			c.proved = false
			c.step(&mix[k])
			c.assumed.undo()
		}
	}
	if c.Err() != nil {
		b.Fatal(c.Err())
	}
	b.ReportMetric(float64(len(mix))*float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}

// BenchmarkVerify measures files.
func BenchmarkVerify(b *testing.B) {
	p := large(model.Makespan)
	c, err := New(p)
	if err != nil {
		b.Fatal(err)
	}
	var file bytes.Buffer
	w := NewWriter(&file, p)
	for range 20 {
		w.NewSearch()
		prove(c.tables, w)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	found := Result{}
	for b.Loop() {
		if found, err = Verify(context.Background(), p, bytes.NewReader(file.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(found.Steps)*float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
