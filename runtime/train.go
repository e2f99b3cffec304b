package runtime

import (
	"context"
	"slices"
	"time"
)

// A Contestant is a program that can be executed: its engine and the backend whose devices
// that has.
type Contestant struct {
	Name    string
	Engine  *Engine
	Backend Backend
}

// Settings say how often to execute a program.
type Settings struct {
	First      int // number of the first iteration, which decides its data
	Warmup     int // iterations before those that are measured
	Iterations int // that are measured

	// Observe is called after each iteration, from the goroutine that called Train or
	// Compare; nil if nobody looks.
	Observe func(Progress)
}

// Progress says how far a training is.
type Progress struct {
	Name     string  // of the contestant
	Done     int     // iterations of all contestants that have ended
	Total    int     // iterations of all contestants
	Measured bool    // it was one of those that are measured
	Makespan float64 // of the iteration, in seconds
	Loss     float64 // NaN if nothing is trained
}

// Run is what a training was like. Records, Steps are those of the measured iterations.
type Run struct {
	Name    string
	Records []*Record
	Steps   []time.Duration // from the preparation of the data to the end of the optimizer step
	Losses  []float64       // of all iterations, warm-up included
	Memory  []Memory        // by device, the largest of each figure over all iterations; nil if not counted
}

// Train executes warm-up and measured iterations of one program. On an error it returns the
// run as far as it came. Errors are those of the engine, [*Fault], and of the backend.
func Train(ctx context.Context, c Contestant, s Settings) (*Run, error) {
	runs, err := Compare(ctx, []Contestant{c}, s)
	return runs[0], err
}

// Compare executes several programs in turn, an iteration of each before the next of any, so
// that what else the machine does meets all of them alike. Runs are parallel to contestants.
// What a [Profiler] has measured in iterations to warm up is forgotten after them.
// Errors are as in [Train]; the first one ends the comparison.
func Compare(ctx context.Context, contestants []Contestant, s Settings) ([]*Run, error) {
	runs := make([]*Run, len(contestants))
	for i := range runs {
		runs[i] = &Run{Name: contestants[i].Name}
	}
	rounds := s.Warmup + s.Iterations
	for round := range rounds {
		if round > 0 && round == s.Warmup {
			resetTimes(contestants)
		}
		for i, c := range contestants {
			measured := round >= s.Warmup
			record, err := runs[i].iterate(ctx, c, s.First+round, measured)
			if err != nil {
				return runs, err
			}
			if s.Observe != nil {
				s.Observe(Progress{
					Name: c.Name, Done: round*len(contestants) + i + 1, Total: rounds * len(contestants), Measured: measured,
					Makespan: record.Makespan.Seconds(), Loss: runs[i].Losses[round],
				})
			}
		}
	}
	return runs, nil
}

// resetTimes makes the backends that measure layers forget what they have measured.
func resetTimes(contestants []Contestant) {
	for _, c := range contestants {
		if p, ok := c.Backend.(Profiler); ok {
			p.ResetTimes()
		}
	}
}

// iterate executes one iteration, and keeps its record if it counts.
func (r *Run) iterate(ctx context.Context, c Contestant, iteration int, keep bool) (*Record, error) {
	began := time.Now()
	if err := c.Backend.Begin(iteration); err != nil {
		return nil, err
	}
	record, err := c.Engine.Run(ctx)
	if err != nil {
		return nil, err
	}
	step, err := c.Backend.Finish()
	if err != nil {
		return nil, err
	}
	r.Losses = append(r.Losses, step.Loss)
	r.Memory = largest(r.Memory, step.Memory)
	if keep {
		r.Records = append(r.Records, record)
		r.Steps = append(r.Steps, time.Since(began))
	}
	return record, nil
}

// largest returns the largest of each figure by device.
func largest(a, b []Memory) []Memory {
	if a == nil {
		return slices.Clone(b) // the backend may use its own again
	}
	for d := range b {
		a[d].Static, a[d].Work = max(a[d].Static, b[d].Static), max(a[d].Work, b[d].Work)
		a[d].Peak, a[d].Live = max(a[d].Peak, b[d].Peak), max(a[d].Live, b[d].Live)
	}
	return a
}

// Makespans returns the quantiles of the measured iterations, in seconds, from the first
// start of an operation to the last end.
func (r *Run) Makespans() Quantiles {
	samples := make([]float64, len(r.Records))
	for i, record := range r.Records {
		samples[i] = record.Makespan.Seconds()
	}
	return NewQuantiles(samples)
}

// StepSeconds returns the quantiles of the measured iterations, in seconds, with data and
// optimizer step.
func (r *Run) StepSeconds() Quantiles {
	samples := make([]float64, len(r.Steps))
	for i, step := range r.Steps {
		samples[i] = step.Seconds()
	}
	return NewQuantiles(samples)
}
