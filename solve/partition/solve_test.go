package partition_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
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

func TestIntegerProgramAgainstAll(t *testing.T) {
	each(t, func(t *rapid.T, p *partition.Problem) {
		want := all(p)
		r, err := partition.Solve(context.Background(), p, partition.Options{Method: partition.IntegerProgram})
		if len(want) == 0 {
			checkInfeasible(t, p, err)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Score.Busiest != want[0].score.Busiest || !r.Proved || !partition.Fits(p, &r.Choice) {
			t.Fatalf("got %+v, want %+v", r, want[0])
		}
	})
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

// checkInfeasible tests what an error claims: the nearest choice misses the limits by as much as it
// says, raising them makes it fit, nothing smaller does, and a choice that
// recomputes more fits if there is one.
func checkInfeasible(t *rapid.T, p *partition.Problem, err error) {
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
