package benchmarks

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// relative is a change of a pipeline after which the shortest makespan is no longer
// than before. It works on a copy that shares no slices.
type relative struct {
	name   string
	change func(pl *model.Pipeline)
}

var relatives = []relative{
	{"more memory", func(pl *model.Pipeline) {
		for d := range pl.Devices {
			if pl.Devices[d].Limit < model.Unlimited {
				pl.Devices[d].Limit++
			}
		}
	}},
	{"cheaper links", func(pl *model.Pipeline) {
		pl.Latency = max(0, pl.Latency-1)
		for l := range pl.Links {
			pl.Links[l].Latency /= 2
		}
	}},
	{"a cheaper stage", func(pl *model.Pipeline) {
		for r := range pl.Stages[len(pl.Stages)/2].Replicas {
			for _, d := range durations(&pl.Stages[len(pl.Stages)/2].Replicas[r].Durations) {
				if *d != model.Absent {
					*d = max(0, *d-1)
				}
			}
		}
	}},
	{"one micro-batch fewer", func(pl *model.Pipeline) {
		pl.MicroBatches--
		if pl.Factors != nil {
			pl.Factors = pl.Factors[:pl.MicroBatches]
		}
		if pl.Routes != nil {
			pl.Routes = pl.Routes[:pl.MicroBatches]
		}
	}},
}

func durations(d *model.Durations) []*model.Time {
	return []*model.Time{&d.Forward, &d.BackwardInput, &d.BackwardWeight, &d.BackwardFull, &d.Overlapped}
}

// multiply makes all times k times as long.
func multiply(pl *model.Pipeline, k model.Time) {
	pl.Latency *= k
	for l := range pl.Links {
		pl.Links[l].Latency *= k
	}
	for i := range pl.Operations {
		o := &pl.Operations[i]
		o.Duration *= k
		o.After, o.Before = refs(o.After, k), refs(o.Before, k)
	}
	for s := range pl.Stages {
		for r := range pl.Stages[s].Replicas {
			for _, d := range durations(&pl.Stages[s].Replicas[r].Durations) {
				if *d != model.Absent {
					*d *= k
				}
			}
		}
	}
}

// refs returns references with all lags multiplied.
func refs(list []model.Ref, k model.Time) []model.Ref {
	list = slices.Clone(list)
	for i := range list {
		list[i].Lag *= k
	}
	return list
}

// copied returns a pipeline that may be changed.
func copied(pl *model.Pipeline) *model.Pipeline {
	c := *pl
	c.Devices, c.Stages, c.Links = slices.Clone(pl.Devices), slices.Clone(pl.Stages), slices.Clone(pl.Links)
	c.Operations = slices.Clone(pl.Operations)
	for s := range c.Stages {
		c.Stages[s].Replicas = slices.Clone(c.Stages[s].Replicas)
	}
	return &c
}

// monotoneSeeds are tried of each family; monotoneSearched of the problems at least
// must need a search.
const (
	monotoneSeeds    = 60
	monotoneSearched = 20
	monotonePatience = 2 * time.Second
)

// TestMonotone proves the shortest makespans of random problems and of relatives that
// must not have longer ones, and that k times the times takes k times as long.
func TestMonotone(t *testing.T) {
	seeds := uint64(monotoneSeeds)
	if testing.Short() {
		seeds = 4
	}
	searched, open, related := 0, 0, 0
	for seed := range seeds {
		for i := range families {
			base := families[i].make(1000 + seed)
			before, needed := shortest(t, base)
			if !closed(before) {
				open++
				continue
			}
			if needed {
				searched++
			} else if seed%4 > 0 {
				continue
			}
			for _, x := range relatives {
				pl := copied(base)
				if x.change(pl); pl.MicroBatches == 0 {
					continue
				}
				related++
				after, _ := shortest(t, pl)
				if worse(before, after) {
					t.Errorf("%s %d: %v with %d, with %s %v with [%d, %d]", families[i].name, 1000+seed,
						before.Status, before.Value, x.name, after.Status, after.Bound, after.Value)
				}
			}
			scaled(t, families[i].name, 1000+seed, base, before)
		}
	}
	t.Logf("%d problems needed a search and were closed, %d stayed open; %d relatives", searched, open, related)
	if !testing.Short() && searched < monotoneSearched {
		t.Errorf("%d problems needed a search, want %d: look for other seeds", searched, monotoneSearched)
	}
}

// shortest solves a pipeline, and reports whether its bound is not enough for a proof.
func shortest(t *testing.T, pl *model.Pipeline) (*solve.Result, bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), monotonePatience)
	defer cancel()
	r, err := portfolio.Solve(ctx, compile(pl), portfolio.Options{Seed: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if closed(r) && r.Proof == solve.SearchProof {
		t.Errorf("proof %q by %s", r.Proof, r.Engine)
	}
	return r, r.Proof == solve.CheckedProof
}

func closed(r *solve.Result) bool { return r.Status == solve.Optimal || r.Status == solve.Infeasible }

// worse reports whether a result is surely worse than one that is closed.
func worse(before, after *solve.Result) bool {
	if before.Status == solve.Infeasible {
		return false
	}
	return after.Status == solve.Infeasible || after.Bound > before.Value
}

// scaled tests a pipeline with longer times.
func scaled(t *testing.T, name string, seed uint64, pl *model.Pipeline, before *solve.Result) {
	t.Helper()
	const k = 7
	pl = copied(pl)
	multiply(pl, k)
	after, _ := shortest(t, pl)
	if closed(after) && (after.Status != before.Status || after.Value != k*before.Value) || after.Bound > k*before.Value && before.Plan != nil {
		t.Errorf("%s %d: %v with %d, with all times times %d %v with [%d, %d]", name, seed,
			before.Status, before.Value, k, after.Status, after.Bound, after.Value)
	}
}
