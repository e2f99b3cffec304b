package benchmarks

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/cssr/dsl"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// unitCosts is a configuration with F = I = W = 1.
func unitCosts(p, m int, more string) string {
	return fmt.Sprintf("version: 1\ndevices: %d\nmicro_batches: %d\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n%s\n", p, m, more)
}

// tesselFile returns a placement of benchmarks/tessel, with M micro-batches.
func tesselFile(t *testing.T, name string, m int) string {
	t.Helper()
	data, err := os.ReadFile("tessel/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(data), "micro_batches: 12", fmt.Sprint("micro_batches: ", m), 1)
}

// TestLibraryExtensions demands makespans and peaks that are worked out by hand, of
// scripts that no package lists. F = 1, and B = 2 is fused.
func TestLibraryExtensions(t *testing.T) {
	const activations = "memory: {activation: 1}"
	branches := "edges: [[0, 1], [2, 3]]\n" + activations
	for _, c := range []struct {
		name, configuration string
		set                 []dsl.Setting
		makespan            string
		peaks               []int // nil: no memory
	}{
		// Two branches of depth 2 in step: (M+1)F, the loss, (M+1)B.
		{"distmm-pipe", "", nil, "28", nil},
		{"distmm-pipe", unitCosts(4, 8, branches), []dsl.Setting{{Name: "loss", Value: "3"}}, "30", []int{8, 8, 8, 8}},
		{"distmm-pipe", unitCosts(4, 16, branches), nil, "52", []int{16, 16, 16, 16}},
		// The work of a device for each further micro-batch: 6, 8 and 6.
		{"tessel-m", "", nil, "60", []int{6, 4, 3, 1}},
		{"tessel-m", tesselFile(t, "mshape", 12), nil, "84", []int{6, 4, 3, 1}},
		{"tessel-m", tesselFile(t, "mshape", 36), nil, "228", []int{6, 4, 3, 1}},
		{"tessel-nn", "", nil, "76", []int{6, 4, 3, 1}},
		{"tessel-nn", tesselFile(t, "nnshape", 12), nil, "108", []int{6, 4, 3, 1}},
		{"tessel-nn", tesselFile(t, "nnshape", 36), nil, "300", []int{6, 4, 3, 1}},
		{"tessel-k", "", nil, "52", []int{3, 2, 3, 2}},
		{"tessel-k", tesselFile(t, "kshape", 12), nil, "76", []int{3, 2, 3, 2}},
		{"tessel-k", tesselFile(t, "kshape", 36), nil, "220", []int{3, 2, 3, 2}},
		// Device 3 has 8 · 4.5 to do after the forwards and before the gradients of the
		// others, 3 + 36 + 6, and is late by one S.
		{"vocabulary-parallel", unitCosts(4, 8, activations), nil, "45.5", []int{6, 5, 4, 3}},
		// Recomputation is on the way on the last device only: (P-1)F, M(F+R+B), (P-1)B.
		{"1f1b-recompute", "", nil, "41", []int{7, 6, 5, 4}},
		{"1f1b-recompute", "", []dsl.Setting{{Name: "recompute", Value: "2"}}, "49", []int{7, 6, 5, 4}},
		{"1f1b-recompute", unitCosts(4, 16, "memory: {activation: 1, limit: 7}"), nil, "73", []int{7, 6, 5, 4}},
		// Copies delay nothing; without them the peaks are 4, 3, 2 and 1.
		{"1f1b-offload", "", nil, "33", []int{2, 2, 2, 1}},
		{"1f1b-offload", unitCosts(4, 16, "memory: {activation: 1, limit: 2}"), nil, "57", []int{2, 2, 2, 1}},
		{"1f1b-offload", unitCosts(8, 16, activations), nil, "69", nil},
		// 1F1B, and R on device 0, the last to have its gradients. The first is what a user
		// asked for: 23 instead of 21.
		{"1f1b-all-reduce", unitCosts(4, 4, ""), nil, "23", nil},
		{"1f1b-all-reduce", "", nil, "35", nil},
		{"1f1b-optimizer", "", nil, "34", nil},
		{"1f1b-optimizer", unitCosts(4, 4, activations), []dsl.Setting{{Name: "step", Value: "3"}}, "24", []int{4, 3, 2, 1}},
	} {
		got := script(t, c.name, c.configuration, c.set...)
		if makespan := got.ticks(got.metrics.Makespan); makespan != c.makespan {
			t.Errorf("%s %v: makespan %s, want %s\n%s", c.name, c.set, makespan, c.makespan, c.configuration)
		}
		if c.peaks != nil && !slices.Equal(got.peaks(), c.peaks) {
			t.Errorf("%s %v: peaks %v, want %v\n%s", c.name, c.set, got.peaks(), c.peaks, c.configuration)
		}
	}
}

// times returns when operations of a kind start first and end last.
func (s *scripted) times(kind string) (first, last model.Time) {
	first = math.MaxInt64
	for op, start := range s.timeline.Start {
		id := model.OpID(op)
		if s.problem.Kinds[s.problem.Row(id).Kind].Name == kind && start != model.Absent {
			first, last = min(first, start), max(last, start+s.problem.Duration(id))
		}
	}
	return first, last
}

// TestLibraryBatchLoss demands that the loss of DistMM-Pipe, one for the iteration,
// stands between all forwards and all backwards.
func TestLibraryBatchLoss(t *testing.T) {
	got := script(t, "distmm-pipe", "")
	_, forwards := got.times("forward")
	first, last := got.times("loss")
	backwards, _ := got.times("backward_full")
	if first != forwards || last != backwards || last-first != 1 {
		t.Errorf("forwards end at %d, the loss runs from %d to %d, backwards start at %d", forwards, first, last, backwards)
	}
}

// TestLibraryVocabularyPasses demands the waits of Algorithm 1 for each micro-batch: S on
// all devices after the last forward, T after every S, the last backward after every T.
func TestLibraryVocabularyPasses(t *testing.T) {
	got := script(t, "vocabulary-parallel", "")
	starts := func(kind string, m int) (first, last model.Time) {
		first, last = math.MaxInt64, 0
		for op, start := range got.timeline.Start {
			id := model.OpID(op)
			row := got.problem.Row(id)
			name := got.problem.Kinds[row.Kind].Name
			if name != kind || got.problem.MicroBatch(id) != m || start == model.Absent || name != "logits" && name != "loss" && row.Stage != 3 {
				continue
			}
			first, last = min(first, start), max(last, start+got.problem.Duration(id))
		}
		return first, last
	}
	for m := range 8 {
		_, forward := starts("forward", m)
		logits, logitsEnd := starts("logits", m)
		loss, lossEnd := starts("loss", m)
		backward, _ := starts("backward_full", m)
		if logits < forward || loss < logitsEnd || backward < lossEnd {
			t.Errorf("micro-batch %d: forward to %d, S from %d to %d, T from %d to %d, backward from %d", m, forward, logits, logitsEnd, loss, lossEnd, backward)
		}
	}
}

// TestLibrarySolved demands that a search on the problem of a script, by heuristics and
// exactly, is never worse than the script, within the same memory, and proves the small
// ones.
func TestLibrarySolved(t *testing.T) {
	for _, c := range []struct {
		name, configuration string
		optimum             string
	}{
		{"distmm-pipe", unitCosts(4, 3, "edges: [[0, 1], [2, 3]]"), "13"},
		{"tessel-m", tesselFile(t, "mshape", 2), "24"},
		{"tessel-nn", tesselFile(t, "nnshape", 2), "28"},
		{"tessel-k", tesselFile(t, "kshape", 3), "22"},
		{"vocabulary-parallel", unitCosts(2, 3, "memory: {activation: 1, limit: 4}"), ""},
		{"1f1b-recompute", unitCosts(3, 3, "memory: {activation: 1, limit: 6}"), "18"},
		{"1f1b-offload", unitCosts(3, 4, "memory: {activation: 1, limit: 2}"), "18"},
		{"1f1b-all-reduce", unitCosts(4, 4, ""), "23"},
		{"1f1b-optimizer", unitCosts(3, 3, ""), "16"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := script(t, c.name, c.configuration)
			for _, mode := range []portfolio.Mode{portfolio.Heuristic, portfolio.Exact} {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				r, err := portfolio.Solve(ctx, got.problem, portfolio.Options{Seed: 1, Workers: 1, Mode: mode})
				cancel()
				if err != nil || r.Plan == nil {
					t.Fatalf("no plan: %v", err)
				}
				if r.Value > got.metrics.Makespan {
					t.Errorf("the search gives %s, the script %s", got.ticks(r.Value), got.ticks(got.metrics.Makespan))
				}
				t.Logf("script %s, %v %s (%v)", got.ticks(got.metrics.Makespan), mode, got.ticks(r.Value), r.Status)
				if mode == portfolio.Exact && r.Status != solve.Optimal {
					t.Errorf("not proved: %v", r.Status)
				}
				if c.optimum != "" && mode == portfolio.Exact && (got.ticks(r.Value) != c.optimum || r.Value != got.metrics.Makespan) {
					t.Errorf("optimum %s, script %s, want %s for both", got.ticks(r.Value), got.ticks(got.metrics.Makespan), c.optimum)
				}
			}
		})
	}
}
