package runtime

import (
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// RowTimes returns what the operations of each row of a problem took in all records, in
// nanoseconds; no samples for a row that did not run.
func RowTimes(p *model.Problem, records []*Record) []Quantiles {
	times := make([]Quantiles, len(p.Rows))
	for row := range p.Rows {
		var samples []float64
		first := int(p.Base(row))
		for op := first; op < first+p.Count(row); op++ {
			for _, r := range records {
				if r.Start[op] >= 0 {
					samples = append(samples, float64(r.End[op]-r.Start[op]))
				}
			}
		}
		times[row] = NewQuantiles(samples)
	}
	return times
}

// Hops returns the time that messages took, with or without cargo, in nanoseconds: from the end of
// the producer to the start of the consumer, where the consumer's devices had nothing else to
// do in between, and waited for nothing else.
func Hops(program *lower.Program, records []*Record) Quantiles {
	var samples []float64
	for _, r := range records {
		ready, free := latestArrivals(program, r), latestFree(program, r)
		for i := range program.Messages {
			m := &program.Messages[i]
			sent := r.End[m.Producer]
			if sent < ready[m.Consumer] {
				continue // another message was the last to come
			}
			if free[m.Consumer] > sent {
				continue // a device of it was at work
			}
			samples = append(samples, float64(r.Start[m.Consumer]-sent))
		}
	}
	return NewQuantiles(samples)
}

// latestFree returns, by operation, when all of its devices had ended what is before it in
// their orders; 0 where there is nothing.
func latestFree(program *lower.Program, r *Record) []int64 {
	free := make([]int64, program.Problem.NumOps())
	for _, ops := range program.Plan.Order {
		for i := 1; i < len(ops); i++ {
			free[ops[i]] = max(free[ops[i]], r.End[ops[i-1]])
		}
	}
	return free
}

// latestArrivals returns, by operation, the end of the last producer of its messages.
func latestArrivals(program *lower.Program, r *Record) []int64 {
	ready := make([]int64, program.Problem.NumOps())
	for i := range program.Messages {
		m := &program.Messages[i]
		ready[m.Consumer] = max(ready[m.Consumer], r.End[m.Producer])
	}
	return ready
}

// Shares says where the time of a device went, as medians over the records.
type Shares struct {
	Busy, Wait, Overhead time.Duration
}

// DeviceShares returns the shares by device.
func DeviceShares(records []*Record) []Shares {
	if len(records) == 0 {
		return nil
	}
	shares := make([]Shares, len(records[0].Devices))
	median := func(d int, of func(*DeviceRecord) time.Duration) time.Duration {
		samples := make([]float64, len(records))
		for i, r := range records {
			samples[i] = float64(of(&r.Devices[d]))
		}
		return time.Duration(NewQuantiles(samples).Median)
	}
	for d := range shares {
		shares[d] = Shares{
			Busy:     median(d, func(r *DeviceRecord) time.Duration { return r.Busy }),
			Wait:     median(d, func(r *DeviceRecord) time.Duration { return r.Wait }),
			Overhead: median(d, func(r *DeviceRecord) time.Duration { return r.Overhead }),
		}
	}
	return shares
}

// PreemptedShare returns the share of operations during which the machine took the thread
// away, -1 where that was not measured.
func PreemptedShare(records []*Record) float64 {
	operations, preempted := 0, 0
	for _, r := range records {
		for _, start := range r.Start {
			if start >= 0 {
				operations++
			}
		}
		for d := range r.Devices {
			if r.Devices[d].Preempted < 0 {
				return -1
			}
			preempted += r.Devices[d].Preempted
		}
	}
	if operations == 0 {
		return -1
	}
	return float64(preempted) / float64(operations)
}
