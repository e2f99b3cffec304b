package partition_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
	"github.com/flexpipe/flexpipe/solve/ilp"
	"github.com/flexpipe/flexpipe/solve/partition"
	"pgregory.net/rapid"
)

func TestDynamicProgramAgainstAll(t *testing.T) {
	each(t, func(t *rapid.T, p *partition.Problem) {
		want := all(p)
		r, err := partition.Solve(context.Background(), p, partition.Options{Method: partition.DynamicProgram})
		if len(want) == 0 {
			checkInfeasible(t, p, err)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Score.Compare(want[0].score) != 0 || !r.Proved || !partition.Fits(p, &r.Choice) {
			t.Fatalf("got %+v, want %+v", r, want[0])
		}
	})
}

// TestIntegerProgramAgainstAll takes a few problems of each shape: where stages choose
// how to recompute, the relaxations take their time.
func TestIntegerProgramAgainstAll(t *testing.T) {
	if testing.Short() {
		t.Skip("short: hundreds of integer programs by a dense simplex")
	}
	proved, none := 0, 0
	for name, sh := range shapes {
		for seed := range 12 {
			p := rapid.Custom(func(t *rapid.T) *partition.Problem { return draw(t, sh) }).Example(seed)
			p.Recompute = p.Recompute[:min(2, len(p.Recompute))]
			want := all(p)
			r, err := partition.Solve(context.Background(), p, partition.Options{Method: partition.IntegerProgram, MaxNodes: 100})
			var undecided *partition.UndecidedError
			switch {
			case errors.As(err, &undecided):
				if len(want) > 0 && undecided.Bound > want[0].score.Busiest {
					t.Errorf("%s %d: bound %d, best %d", name, seed, undecided.Bound, want[0].score.Busiest)
				}
				continue
			case len(want) == 0:
				none++
				checkInfeasible(t, p, err)
				continue
			case err != nil:
				t.Fatalf("%s %d: %v", name, seed, err)
			}
			best := want[0].score.Busiest
			if !partition.Fits(p, &r.Choice) || r.Bound > best || r.Score.Busiest < best || r.Proved && r.Score.Busiest != best {
				t.Errorf("%s %d: got %+v, want %+v", name, seed, r, want[0])
			}
			if r.Proved {
				proved++
			}
		}
	}
	t.Logf("%d proved, %d infeasible", proved, none)
	if proved < 20 || none < 10 {
		t.Errorf("only %d proved and %d infeasible", proved, none)
	}
}

// TestProgramAgainstAll has no quick look before it, which would find most answers alone:
// the program finds the best value, finds it again where nothing above it is allowed, and
// nothing below it.
func TestProgramAgainstAll(t *testing.T) {
	if testing.Short() {
		t.Skip("short: hundreds of integer programs by a dense simplex")
	}
	found, none := 0, 0
	for name, sh := range shapes {
		for seed := range 9 {
			p := rapid.Custom(func(t *rapid.T) *partition.Problem { return draw(t, sh) }).Example(seed)
			p.Recompute = p.Recompute[:min(2, len(p.Recompute))]
			for d := range p.Devices {
				p.Devices[d].Limit += 8 // some memory, so that many problems have a choice
			}
			want := all(p)
			best := int64(0)
			if len(want) > 0 {
				best = want[0].score.Busiest
			}
			for _, most := range []int64{0, best, best - 1} {
				if most < 0 || most == 0 && best < 2 && len(want) > 0 {
					continue
				}
				status, c, err := partition.Program(p, most, 30)
				if err != nil {
					t.Fatalf("%s %d: %v", name, seed, err)
				}
				fits := len(want) > 0 && (most == 0 || most == best)
				switch {
				case status == ilp.Feasible || status == ilp.Unknown:
					continue
				case (c != nil) != fits:
					t.Fatalf("%s %d: at most %d: %v, best %d of %d", name, seed, most, status, best, len(want))
				case c == nil:
					none++
					continue
				}
				found++
				if score, _ := partition.Evaluate(p, c); score.Busiest != best || !partition.Fits(p, c) {
					t.Fatalf("%s %d: at most %d: %v with %d, best %d", name, seed, most, c, score.Busiest, best)
				}
			}
		}
	}
	t.Logf("%d found, %d without", found, none)
	if found < 30 || none < 20 {
		t.Errorf("only %d found and %d without", found, none)
	}
}

func TestCandidatesAgainstAll(t *testing.T) {
	each(t, func(t *rapid.T, p *partition.Problem) {
		want := all(p)
		if len(want) == 0 {
			return
		}
		var distinct []scored
		for _, c := range want {
			same := func(d scored) bool { return slices.Equal(c.Cut, d.Cut) && slices.Equal(c.Recompute, d.Recompute) }
			if !slices.ContainsFunc(distinct, same) {
				distinct = append(distinct, c)
			}
		}
		k := rapid.IntRange(1, 12).Draw(t, "k")
		got, err := partition.Candidates(context.Background(), p, k, partition.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) < min(k, len(distinct)) {
			t.Fatalf("%d candidates of %d", len(got), len(distinct))
		}
		for i := range min(k, len(distinct)) {
			if got[i].Score.Compare(distinct[i].score) != 0 {
				t.Fatalf("candidate %d is %+v, want %+v", i, got[i], distinct[i])
			}
			for j := range i {
				if slices.Equal(got[i].Cut, got[j].Cut) && slices.Equal(got[i].Recompute, got[j].Recompute) {
					t.Fatalf("candidates %d and %d are the same: %+v", j, i, got[i])
				}
			}
		}
	})
}

// checkInfeasible tests what an error claims: the nearest choice misses the limits by
// as much as it says, raising them makes it fit, nothing smaller does, and a choice
// that recomputes more fits if there is one.
func checkInfeasible(t rapid.TB, p *partition.Problem, err error) {
	var e *partition.InfeasibleError
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, but nothing fits", err)
	}
	over := e.Need - e.Limit
	raise := func(more int64) *partition.Problem {
		q := *p
		q.Devices = slices.Clone(p.Devices)
		for d := range q.Devices {
			if q.Devices[d].Limit > 0 {
				q.Devices[d].Limit += more
			}
		}
		return &q
	}
	if !e.Exact || over <= 0 || !partition.Fits(raise(over), &e.Nearest) || len(all(raise(over-1))) > 0 {
		t.Fatalf("%+v does not miss the limits by least", e)
	}
	q := *p
	q.Recompute = []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull}
	more := all(&q)
	if (len(more) > 0) != (e.Recompute != nil) || e.Recompute != nil && !partition.Fits(p, e.Recompute) {
		t.Fatalf("recompute remedy %+v, %d choices recompute", e.Recompute, len(more))
	}
}
