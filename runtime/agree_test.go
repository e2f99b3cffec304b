package runtime_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model/modelgen"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// TestAgreement spoils programs at random and runs them. Whether they come to an end, and if
// not where each device stands then, must be what the run without time says, which shares no
// code with the engine.
func TestAgreement(t *testing.T) {
	checkLeaks(t)
	stuck := 0
	for seed := range uint64(400) {
		s := modelgen.Random(seed, 4)
		s.Devices = max(s.Devices, 2)
		s.Placement = nil
		s.Blocking = seed%4 == 0
		s.Limit = nil
		s = widened(s)
		p := modelgen.Problem(s)
		plan, _ := modelgen.RandomPlan(p, seed)
		pr := lowered(t, p, plan)
		spoil(pr, rand.New(rand.NewPCG(seed, 7)))
		var want *lower.Deadlock
		if err := pr.Simulate(lower.Buffered); err != nil && !errors.As(err, &want) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		_, err := newEngine(t, pr, fakes(p.NumDevices()), pipert.Options{}).Run(t.Context())
		var got *pipert.Fault
		switch errors.As(err, &got); {
		case (want == nil) != (err == nil):
			t.Fatalf("seed %d: the engine says %v, the run without time %v", seed, err, want)
		case want == nil:
			continue
		case got == nil || got.Cause != pipert.Deadlocked:
			t.Fatalf("seed %d: %v, want a deadlock", seed, err)
		}
		stuck++
		checkStuck(t, got, want)
	}
	if stuck < 100 || stuck > 390 {
		t.Errorf("%d of 400 programs deadlock: the test says little", stuck)
	}
}

// widened gives the lists of a spec one value for all stages, so that any number of them fits.
func widened(s modelgen.Spec) modelgen.Spec {
	s.F, s.I, s.W = s.F[:1], s.I[:1], s.W[:1]
	s.Activation, s.FreedByI = s.Activation[:1], s.FreedByI[:1]
	return s
}

// spoil moves receives to an earlier place and sends to a later one, up to five times.
func spoil(pr *lower.Program, r *rand.Rand) {
	for range 1 + r.IntN(5) {
		d := r.IntN(len(pr.Devices))
		if len(pr.Devices[d]) == 0 {
			continue
		}
		code := slices.Clone(pr.Devices[d])
		from := r.IntN(len(code))
		to, in := from, code[from]
		switch in.Code {
		case lower.Receive:
			to = r.IntN(from + 1)
		case lower.Send:
			to = from + r.IntN(len(code)-from)
		}
		code = slices.Insert(slices.Delete(code, from, from+1), to, in)
		pr.Devices[d] = code
	}
}

func checkStuck(t *testing.T, got *pipert.Fault, want *lower.Deadlock) {
	t.Helper()
	for i := range want.Blocked {
		b := &want.Blocked[i]
		if w := got.Waiting[b.Device]; w.Activity != pipert.Waits || w.Step != b.Step {
			t.Errorf("device %d stands at step %d, want %d, in\n%v", b.Device, w.Step, b.Step, got)
		}
	}
	blocked := 0
	for i := range got.Waiting {
		if got.Waiting[i].Activity != pipert.Finished {
			blocked++
		}
	}
	if blocked != len(want.Blocked) || (got.Cycle == nil) != (len(want.Cycle) == 0) {
		t.Errorf("%d devices wait, want %d:\n%v\nwant\n%v", blocked, len(want.Blocked), got, want)
	}
	for i, d := range got.Cycle {
		if next := got.Cycle[(i+1)%len(got.Cycle)]; !slices.Contains(got.Waiting[d].Of, next) {
			t.Errorf("device %d does not wait for device %d:\n%v", d, next, got)
		}
	}
}
