package bound_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// uniform is a linear pipeline of equal stages.
type uniform struct{ P, M, F, I, W, Lag model.Time }

func (u uniform) spec() modelgen.Spec {
	return modelgen.Spec{Devices: int(u.P), MicroBatches: int(u.M), F: []model.Time{u.F}, I: []model.Time{u.I}, W: []model.Time{u.W},
		Latency: u.Lag, Activation: []model.Bytes{1}}
}

// uniforms lists shapes with fewer, as many and more micro-batches than stages.
func uniforms() []uniform {
	var all []uniform
	for _, size := range [][2]model.Time{{1, 1}, {1, 7}, {2, 3}, {4, 1}, {4, 2}, {4, 8}, {5, 7}, {8, 32}} {
		for _, cost := range [][4]model.Time{{1, 1, 1, 0}, {10, 11, 9, 1}, {3, 1, 5, 0}, {2, 7, 0, 3}, {0, 1, 2, 4}, {0, 0, 0, 0}} {
			all = append(all, uniform{size[0], size[1], cost[0], cost[1], cost[2], cost[3]})
		}
	}
	return all
}

// TestFusedForm: with a fused backward, no memory limit and no
// lag, (M+P-1)(F+B) is the optimum, which 1F1B reaches (Narayanan et al. 2019);
// with a lag, this form of it is a lower bound that the bound must not miss.
func TestFusedForm(t *testing.T) {
	for _, u := range uniforms() {
		s := u.spec()
		s.Backward = model.Fused
		B := u.I + u.W
		want := (u.P-1)*(u.F+u.Lag) + u.M*(u.F+B) + (u.P-1)*(B+u.Lag)
		got := bound.Makespan(modelgen.Problem(s))
		if got.Value < want || u.Lag == 0 && got.Value != want {
			t.Errorf("%+v: bound %d (%s), want %d", u, got.Value, got.Reason, want)
		}
	}
}

// TestSplitForm: the two terms that Zero Bubble schedules are measured by (Qi et
// al. 2024) are lower bounds, and the optimum if no lag and W <= F.
func TestSplitForm(t *testing.T) {
	for _, u := range uniforms() {
		steady := (u.P-1)*(u.F+u.Lag) + u.M*(u.F+u.I+u.W)
		gradient := (u.P-1)*(u.F+u.Lag) + u.M*(u.F+u.I) + (u.P-1)*(u.I+u.Lag) + u.W
		want := max(steady, gradient)
		got := bound.Makespan(modelgen.Problem(u.spec()))
		if got.Value < want || u.Lag == 0 && u.W <= u.F && got.Value != want {
			t.Errorf("%+v: bound %d (%s), want %d", u, got.Value, got.Reason, want)
		}
		span := bound.Span(modelgen.Problem(u.spec()))
		if span.Value < u.M*(u.F+u.I+u.W) || u.Lag == 0 && u.W <= u.F && span.Value > want {
			t.Errorf("%+v: span bound %d (%s)", u, span.Value, span.Reason)
		}
	}
}

// TestOneActivationForm: a first stage that holds one activation runs one
// micro-batch after the other.
func TestOneActivationForm(t *testing.T) {
	for _, u := range uniforms() {
		s := u.spec()
		for range u.P {
			s.Limit = append(s.Limit, model.Unlimited)
		}
		s.Limit[0] = 1
		if u.Lag > 0 {
			continue
		}
		if got, want := bound.Makespan(modelgen.Problem(s)).Value, u.M*(u.P*(u.F+u.I)+u.W); got != want {
			t.Errorf("%+v: bound %d, want %d", u, got, want)
		}
		s.Backward = model.Fused
		if got, want := bound.Makespan(modelgen.Problem(s)).Value, u.M*u.P*(u.F+u.I+u.W); got != want {
			t.Errorf("%+v fused: bound %d, want %d", u, got, want)
		}
	}
}

// TestForwardOnlyForm: evaluation takes (M+P-1)F.
func TestForwardOnlyForm(t *testing.T) {
	for _, u := range uniforms() {
		s := u.spec()
		s.I, s.W, s.Latency = []model.Time{model.Absent}, []model.Time{model.Absent}, 0
		if got, want := bound.Makespan(modelgen.Problem(s)).Value, (u.M+u.P-1)*u.F; got != want {
			t.Errorf("%+v: bound %d, want %d", u, got, want)
		}
	}
}

// TestLargeForm: what is too large for all arguments still meets the split form.
func TestLargeForm(t *testing.T) {
	u := uniform{1024, 4096, 10, 11, 9, 0}
	want := (u.P-1)*u.F + u.M*(u.F+u.I) + (u.P-1)*u.I + u.W
	if got := bound.Makespan(modelgen.Problem(u.spec())); got.Value < want {
		t.Errorf("bound %d (%s), want %d", got.Value, got.Reason, want)
	}
}

// TestKnownOptima compares with optima of linear pipelines found by exhaustive
// search: unit costs with an activation of 2, half of which each backward half
// gives back, and costs at which simple bounds are not reached.
func TestKnownOptima(t *testing.T) {
	for _, c := range []struct {
		p, m     int
		makespan model.Time
		span     [3]model.Time // with limits of 2, 3 and 4 for each device
	}{
		{2, 2, 7, [3]model.Time{7, 7, 7}}, {2, 4, 13, [3]model.Time{13, 12, 12}},
		{3, 3, 11, [3]model.Time{11, 11, 11}}, {3, 5, 17, [3]model.Time{17, 16, 15}}, {3, 6, 20, [3]model.Time{20, 19, 18}},
		{4, 4, 15, [3]model.Time{15, 15, 15}}, {4, 6, 21, [3]model.Time{21, 19, 19}}, {4, 8, 27, [3]model.Time{27, 25, 24}},
		{5, 5, 19, [3]model.Time{19, 19, 19}}, {5, 7, 25, [3]model.Time{25, 23, 23}},
	} {
		for i, span := range c.span {
			s := modelgen.Spec{Devices: c.p, MicroBatches: c.m, Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1},
				Limit: []model.Bytes{model.Bytes((2 + i) * c.p)}}
			p := modelgen.Problem(s)
			if got := bound.Makespan(p); got.Value != c.makespan {
				t.Errorf("P=%d M=%d limit %d: makespan bound %d, want %d", c.p, c.m, s.Limit[0], got.Value, c.makespan)
			}
			got := bound.Span(p)
			if got.Value > span {
				t.Errorf("P=%d M=%d limit %d: span bound %d above the optimum %d: %s", c.p, c.m, s.Limit[0], got.Value, span, got.Reason)
			}
			if got.Value < span {
				t.Logf("P=%d M=%d limit %d: span bound %d below the optimum %d", c.p, c.m, s.Limit[0], got.Value, span)
			}
		}
	}
	for _, c := range []struct {
		uniform
		optimum model.Time
	}{
		{uniform{2, 3, 1, 3, 3, 0}, 23}, {uniform{4, 2, 2, 2, 3, 0}, 24}, {uniform{4, 4, 1, 2, 4, 0}, 34}, {uniform{3, 3, 1, 4, 2, 0}, 29},
		{uniform{4, 6, 1, 4, 2, 0}, 52}, {uniform{4, 6, 1, 2, 2, 1}, 40}, {uniform{3, 5, 1, 2, 3, 3}, 44},
	} {
		if got := bound.Makespan(modelgen.Problem(c.spec())); got.Value > c.optimum {
			t.Errorf("%+v: bound %d above the optimum %d: %s", c.uniform, got.Value, c.optimum, got.Reason)
		} else {
			t.Logf("%+v: bound %d, optimum %d", c.uniform, got.Value, c.optimum)
		}
	}
}

// TestReasons checks that a device is called busy for its whole work only, as in the
// figures of a plan.
func TestReasons(t *testing.T) {
	for _, c := range []struct {
		spec modelgen.Spec
		want string
	}{
		{modelgen.Spec{Devices: 1, MicroBatches: 4}, "device 0 is busy for 12 ticks"},
		{modelgen.Spec{Devices: 2, MicroBatches: 4}, "device 1 is busy for 12 ticks, which cannot begin before 1 tick"},
		{modelgen.Spec{Devices: 2, MicroBatches: 4, Backward: model.Fused},
			"device 1 is busy for 12 ticks, which cannot begin before 1 tick, after which 2 ticks must follow"},
		{modelgen.Spec{Devices: 2, MicroBatches: 4, Blocking: true, Latency: 1},
			"operations and transfers of device 1 that take 20 ticks cannot begin before 1 tick"},
		{modelgen.Spec{Devices: 2, MicroBatches: 4, Backward: model.Auto},
			"operations of device 1 that take 12 ticks cannot begin before 1 tick"},
	} {
		if got := bound.Lower(modelgen.Problem(c.spec)).Reason; got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// TestInfeasible checks the reasons in words.
func TestInfeasible(t *testing.T) {
	for _, c := range []struct {
		spec modelgen.Spec
		want string // "" if feasible
	}{
		{modelgen.Spec{Devices: 4, MicroBatches: 1, Static: []model.Bytes{1, 2, 2, 3}, Limit: []model.Bytes{2}},
			"device 3 needs 3 for parameters alone; its limit is 2: a limit of 3 would fit"},
		{modelgen.Spec{Devices: 6, MicroBatches: 1, Static: []model.Bytes{1, 2, 2, 4, 2, 2}, Limit: []model.Bytes{1}},
			"device 3 needs 4 for parameters alone; its limit is 1: a limit of 4 would fit; device 1 needs 2 (limit 1), device 2 needs 2 (limit 1), device 4 needs 2 (limit 1) and 1 more"},
		{modelgen.Spec{Devices: 2, MicroBatches: 3, Activation: []model.Bytes{2}, FreedByI: []model.Bytes{-1}, Limit: []model.Bytes{2}},
			"device 0 needs 3 for a single micro-batch, at the backward_input of stage 0; its limit is 2: a limit of 3 would fit; device 1 needs 3 (limit 2)"},
		{modelgen.Spec{Devices: 2, MicroBatches: 3, Activation: []model.Bytes{2}, FreedByI: []model.Bytes{-1}, Limit: []model.Bytes{3}}, ""},
		{modelgen.Spec{Devices: 1, MicroBatches: 3, F: []model.Time{1, 1, 1, 1}, Activation: []model.Bytes{1}, Limit: []model.Bytes{3}},
			"device 0 needs 4 for a single micro-batch, at the forward of stage 3; its limit is 3: a limit of 4 would fit"},
		{modelgen.Spec{Devices: 2, MicroBatches: 1}, ""},
	} {
		got := ""
		if no := bound.Infeasible(modelgen.Problem(c.spec)); no != nil {
			got = no.Reason
		}
		if got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}
