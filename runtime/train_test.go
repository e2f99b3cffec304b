package runtime_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flexpipe/flexpipe/model"
	pipert "github.com/flexpipe/flexpipe/runtime"
)

// script is a backend that notes what it is asked for, and fails when told to.
type script struct {
	name    string
	log     *[]string
	pause   time.Duration // of Begin, and of Finish
	memory  [][]pipert.Memory
	began   int
	failing int // the iteration at which Begin fails
}

func (s *script) Name() string             { return s.name }
func (s *script) Devices() []pipert.Device { return nil }
func (s *script) Close() error             { return nil }

func (s *script) Begin(iteration int) error {
	*s.log = append(*s.log, fmt.Sprintf("%s%d", s.name, iteration))
	if iteration == s.failing {
		return errors.New("no data")
	}
	time.Sleep(s.pause)
	s.began++
	return nil
}

func (s *script) Finish() (pipert.Step, error) {
	time.Sleep(s.pause)
	step := pipert.Step{Loss: float64(s.began)}
	if s.memory != nil {
		step.Memory = s.memory[s.began-1]
	}
	return step, nil
}

// contestant runs chain with operations of a tick a second.
func contestant(t *testing.T, s *script) pipert.Contestant {
	t.Helper()
	p, plan := chain()
	return pipert.Contestant{Name: s.name, Backend: s, Engine: newEngine(t, assemble(p, plan), []pipert.Device{clocked(p), clocked(p)}, pipert.Options{})}
}

// TestCompare has two programs take turns, and keeps the records of those iterations alone
// that are measured.
func TestCompare(t *testing.T) {
	p, plan := chain()
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	seconds := float64(model.Measure(p, plan, tl).Makespan)
	synctest.Test(t, func(t *testing.T) {
		var log []string
		var seen []pipert.Progress
		list := []pipert.Contestant{
			contestant(t, &script{name: "A", log: &log, failing: -1, pause: time.Second}),
			contestant(t, &script{name: "B", log: &log, failing: -1}),
		}
		runs, err := pipert.Compare(t.Context(), list, pipert.Settings{
			First: 5, Warmup: 1, Iterations: 2, Observe: func(p pipert.Progress) { seen = append(seen, p) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"A5", "B5", "A6", "B6", "A7", "B7"}; !slices.Equal(log, want) {
			t.Errorf("iterations %v, want %v", log, want)
		}
		for i, r := range runs {
			step := seconds + 2*float64(1-i)
			if len(r.Records) != 2 || r.Name != log[i][:1] || !slices.Equal(r.Losses, []float64{1, 2, 3}) {
				t.Errorf("run %d: %+v", i, r)
			}
			if want := (pipert.Quantiles{N: 2, P10: seconds, Median: seconds, P90: seconds}); r.Makespans() != want {
				t.Errorf("run %d: makespans %v, want %v", i, r.Makespans(), want)
			}
			if want := (pipert.Quantiles{N: 2, P10: step, Median: step, P90: step}); r.StepSeconds() != want {
				t.Errorf("run %d: steps %v, want %v", i, r.StepSeconds(), want)
			}
		}
		if len(seen) != 6 || seen[1] != (pipert.Progress{Name: "B", Done: 2, Total: 6, Makespan: seconds, Loss: 1}) ||
			seen[2] != (pipert.Progress{Name: "A", Done: 3, Total: 6, Measured: true, Makespan: seconds, Loss: 2}) {
			t.Errorf("progress %+v", seen)
		}
	})
}

// TestTrain ends at the first error with what there is by then, and keeps the largest figure
// of memory of each kind.
func TestTrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log []string
		memory := [][]pipert.Memory{
			{{Static: 5, Work: 2, Peak: 9}, {Peak: 3}},
			{{Static: 4, Work: 3, Peak: 8, Live: 1}, {Peak: 4}},
		}
		want := slices.Clone(memory[0])
		r, err := pipert.Train(t.Context(), contestant(t, &script{name: "A", log: &log, failing: 2, memory: memory}), pipert.Settings{Iterations: 3})
		if err == nil || err.Error() != "no data" || len(r.Records) != 2 || len(r.Losses) != 2 {
			t.Errorf("run %+v, error %v", r, err)
		}
		if largest := []pipert.Memory{{Static: 5, Work: 3, Peak: 9, Live: 1}, {Peak: 4}}; !slices.Equal(r.Memory, largest) {
			t.Errorf("memory %+v, want %+v", r.Memory, largest)
		}
		if !slices.Equal(memory[0], want) {
			t.Errorf("the memory of the backend has changed to %+v", memory[0])
		}
	})
	if none := (&pipert.Run{}).Makespans(); none.N != 0 || math.IsNaN(none.Median) {
		t.Errorf("makespans of nothing: %+v", none)
	}
}
