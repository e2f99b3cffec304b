package lower_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/runtime/lower"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// changed returns programs that differ in one device, whose order in the plan follows.
func changed(g *lower.Program, d int, program []lower.Instr) *lower.Program {
	plan := &model.Plan{Order: slices.Clone(g.Plan.Order), Waits: g.Plan.Waits}
	plan.Order[d] = nil
	for _, in := range program {
		if in.Code == lower.Compute {
			plan.Order[d] = append(plan.Order[d], in.Op)
		}
	}
	c := &lower.Program{Problem: g.Problem, Plan: plan, Devices: slices.Clone(g.Devices), Messages: g.Messages}
	c.Devices[d] = program
	return c
}

// swapped exchanges two instructions of a device.
func swapped(g *lower.Program, d, i, j int) *lower.Program {
	program := slices.Clone(g.Devices[d])
	program[i], program[j] = program[j], program[i]
	return changed(g, d, program)
}

// first puts an instruction of a device before all others.
func first(g *lower.Program, d, step int) *lower.Program {
	program := g.Devices[d]
	return changed(g, d, slices.Concat(program[step:step+1], program[:step], program[step+1:]))
}

// mutated exchanges two receives of a device, or two instructions that are near each other.
func mutated(g *lower.Program, r *rand.Rand) *lower.Program {
	d := r.IntN(len(g.Devices))
	var receives []int
	for step, in := range g.Devices[d] {
		if in.Code == lower.Receive {
			receives = append(receives, step)
		}
	}
	n := len(g.Devices[d])
	switch {
	case len(receives) > 1 && r.IntN(2) == 0:
		i := r.IntN(len(receives) - 1)
		return swapped(g, d, receives[i], receives[i+1])
	case n > 1:
		i := r.IntN(n - 1)
		return swapped(g, d, i, min(n-1, i+1+r.IntN(3)))
	}
	return g
}

func verdictOf(t rapid.TB, err error) verdict {
	var deadlock *lower.Deadlock
	var order *lower.Mismatch
	var form *lower.FormError
	switch {
	case err == nil:
		return runs
	case errors.As(err, &deadlock):
		checkDeadlock(t, deadlock)
		return blocks
	case errors.As(err, &order):
		return mismatch
	case errors.As(err, &form):
		return broken
	}
	t.Fatal(err)
	return ""
}

// checkDeadlock: a cycle is one of devices that wait for each other.
func checkDeadlock(t rapid.TB, e *lower.Deadlock) {
	for i, at := range e.Cycle {
		next := e.Blocked[e.Cycle[(i+1)%len(e.Cycle)]]
		if b := e.Blocked[at]; b.On != next.Device || b.OnStep != next.Step {
			t.Fatalf("device %d is said to wait for device %d at step %d, the cycle has device %d at step %d",
				b.Device, b.On, b.OnStep, next.Device, next.Step)
		}
	}
	if len(e.Cycle) == 0 && !strings.Contains(e.Error(), "has ended") {
		t.Fatalf("neither a cycle nor a device that has ended: %v", e)
	}
}

// spoiled draws a program with up to three random instructions exchanged.
var spoiled = rapid.Custom(func(t *rapid.T) *lower.Program {
	g := lowered(t)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "mutation"), 0))
	for range r.IntN(4) {
		g = mutated(g, r)
	}
	return g
})

// compare demands of all models the verdict of the slow simulator, and counts the verdicts.
func compare(t rapid.TB, g *lower.Program, seen map[verdict]int) {
	for _, c := range lower.AllChannels() {
		err := g.Simulate(c)
		got, want := verdictOf(t, err), execute(g, c, func(int, lower.Instr) {})
		if got != want {
			t.Fatalf("channels, %v: %s (%v), want %s", c, got, err, want)
		}
		seen[got]++
	}
}

func TestRandomVerdicts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { compare(t, spoiled.Draw(t, "program"), map[verdict]int{}) })
}

// TestVerdicts meets all verdicts, on programs that are the same each time.
func TestVerdicts(t *testing.T) {
	seen := map[verdict]int{}
	for seed := range 400 {
		compare(t, spoiled.Example(seed), seen)
	}
	for _, v := range []verdict{runs, blocks, mismatch, broken} {
		if seen[v] == 0 {
			t.Errorf("no programs end with the verdict %q", v)
		}
	}
}

// find returns the step of a device whose instruction has a code and concerns an operation.
func find(t *testing.T, g *lower.Program, d int, code lower.Code, op string) int {
	t.Helper()
	step := slices.IndexFunc(g.Devices[d], func(in lower.Instr) bool { return in.Code == code && g.Problem.Name(in.Op) == op })
	if step < 0 {
		t.Fatalf("device %d has no %s of %s", d, code, op)
	}
	return step
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("error\n%v\nwant\n%s", err, want)
	}
}

func TestSwappedReceives(t *testing.T) {
	g := called(t, "1f1b")
	g = first(g, 1, find(t, g, 1, lower.Receive, "1F1")) // 0F1 before 0F0
	if err := g.Simulate(lower.Buffered); err != nil {
		t.Error(err)
	}
	wantError(t, g.Simulate(lower.InOrder), "channels, in order: device 1 at step 0 would receive the output of 0F1 for 1F1 from device 0 to device 1"+
		" but find the output of 0F0 for 1F0 from device 0 to device 1, which left before it")
}

func TestDropped(t *testing.T) {
	g := called(t, "1f1b")
	drop := func(d int, code lower.Code, op string) *lower.Program {
		at := find(t, g, d, code, op)
		return changed(g, d, slices.Delete(slices.Clone(g.Devices[d]), at, at+1))
	}
	wantError(t, drop(0, lower.Send, "0F1").Simulate(lower.Buffered), "device 0: it does not send the output of 0F1 for 1F1 from device 0 to device 1")
	wantError(t, drop(1, lower.Receive, "1F1").Simulate(lower.Buffered), "device 1: it does not receive the output of 0F1 for 1F1 from device 0 to device 1")
	lacks := drop(2, lower.Compute, "2W2")
	lacks.Plan = g.Plan
	wantError(t, lacks.Simulate(lower.Buffered), "device 2: it does not compute 2W2, which its order in the plan has next")
}

// TestSwappedOrders lets device 0 run the backward of a micro-batch before its forward.
func TestSwappedOrders(t *testing.T) {
	g := called(t, "waits")
	program := g.Devices[0]
	at, end := find(t, g, 0, lower.Receive, "0B0"), find(t, g, 0, lower.Give, "0B0")+1
	g = changed(g, 0, slices.Concat(program[at:end], program[:at], program[end:]))
	for _, c := range lower.AllChannels() {
		err := g.Simulate(c)
		var e *lower.Deadlock
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{0, 1}, e.Cycle); diff != "" || len(e.Blocked) != 2 || e.Channels != c {
			t.Errorf("cycle %v of %v", e.Cycle, e.Blocked)
		}
		wantError(t, err, "channels, "+c.String()+": device 0 at step 0, before 0B0, waits for 1B0 of device 1, which is at step 0, before 1F0;"+
			" device 1 at step 0, before 1F0, waits for 0F0 of device 0, which is at step 0, before 0B0; cycle: device 0 -> device 1 -> device 0")
	}
}

// TestGangWaits: devices of a gang come to two operations in different orders; a third one
// waits for what comes behind.
func TestGangWaits(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 3, MicroBatches: 2, Placement: [][]int{{0, 1}, {2}}, Backward: model.Fused})
	g := example{name: "gang", pl: pl, orders: []string{"0F0 0F1 0B0 0B1", "0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"}}.lower(t)
	g = swapped(g, 1, find(t, g, 1, lower.Compute, "0F0"), find(t, g, 1, lower.Compute, "0F1"))
	wantError(t, g.Simulate(lower.Buffered), "channels, buffered: device 0 at step 0, before 0F0, waits for device 1, which is at step 0, before 0F1, to come to 0F0;"+
		" device 1 at step 0, before 0F1, waits for device 0, which is at step 0, before 0F0, to come to 0F1; 1 device waits besides; cycle: device 0 -> device 1 -> device 0")
}

// TestFrontLoadedReceive: a Receive that stands earlier than it must, before a Send that has
// nothing to do with it, blocks a third device if senders wait.
func TestFrontLoadedReceive(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 3, MicroBatches: 1, Placement: [][]int{{0}, {2}, {1}, {0}},
		I: []model.Time{model.Absent}, W: []model.Time{model.Absent}, B: []model.Time{model.Absent}})
	pl.Stages[1].After, pl.Stages[2].After, pl.Stages[3].After = nil, []int{0, 1}, []int{1}
	g := example{name: "front", pl: pl, orders: []string{"0F0 3F0", "2F0", "1F0"}}.lower(t)
	if warnings, err := g.Check(); err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	g = first(g, 0, find(t, g, 0, lower.Receive, "3F0"))
	warnings, err := g.Check()
	if err != nil || len(warnings) != 1 {
		t.Fatal(warnings, err)
	}
	wantError(t, warnings[0], "channels, rendezvous: device 0 at step 0, before 0F0, waits for 1F0 of device 2, which is at step 1, behind its operations;"+
		" device 2 at step 1, behind its operations, waits for device 1, which is at step 0, before 2F0, to receive the output of 1F0;"+
		" device 1 at step 0, before 2F0, waits for 0F0 of device 0, which is at step 0, before 0F0; cycle: device 0 -> device 2 -> device 1 -> device 0")
}

// TestRendezvous: 1F1B runs in order, but not if senders wait: neighbours send to each other
// at the same time.
func TestRendezvous(t *testing.T) {
	g := called(t, "1f1b")
	if err := g.Simulate(lower.InOrder); err != nil {
		t.Error(err)
	}
	var e *lower.Deadlock
	if err := g.Simulate(lower.Rendezvous); !errors.As(err, &e) || len(e.Cycle) != 2 || len(e.Blocked) != 3 {
		t.Errorf("error %v, want a cycle of two devices and a third that waits", err)
	}
}

// TestLongCycle: the text of a deadlock of many devices says how many there are, and stays
// readable.
func TestLongCycle(t *testing.T) {
	const n = 20
	pl := modelgen.Pipeline(modelgen.Spec{Devices: n, MicroBatches: 1, I: []model.Time{model.Absent}, W: []model.Time{model.Absent}, B: []model.Time{model.Absent}})
	pl.Stages = append(pl.Stages, pl.Stages[n-1]) // one stage more, on device 0 behind the others
	pl.Stages[n].After, pl.Stages[n].Replicas = []int{n - 1}, pl.Stages[0].Replicas
	p, err := model.Compile(pl)
	if err != nil {
		t.Fatal(err)
	}
	plan, _ := modelgen.RandomPlan(p, 0)
	g, err := lower.Lower(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	g = first(g, 0, len(g.Devices[0])-2) // waits for the last device before it starts the first stage
	var e *lower.Deadlock
	if err := g.Simulate(lower.InOrder); !errors.As(err, &e) || len(e.Cycle) != n {
		t.Fatalf("error %v, want a cycle of %d devices", err, n)
	}
	text := e.Error()
	if want := "; 12 devices wait besides; cycle: device 0 -> device 19 -> "; !strings.Contains(text, want) {
		t.Errorf("text %s, want it to hold %q", text, want)
	}
	if want := "-> 12 more -> device 0"; !strings.HasSuffix(text, want) {
		t.Errorf("text %s, want it to end with %q", text, want)
	}
}
