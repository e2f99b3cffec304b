package emulated

import (
	"fmt"
	"math"
	"time"

	"github.com/flexpipe/flexpipe/model"
)

// units are the physical units of time, in nanoseconds.
var units = map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}

// Scale returns how many nanoseconds of real time a tick of the problem, the integer in which
// it holds its times, lasts. Where the unit of the problem is physical, that is the unit; where
// it is a tick, that lasts as long as tick says, which must be above 0. dilation multiplies
// both. Times of the problem multiplied by the result are what an ideal run takes.
func Scale(p *model.Problem, tick time.Duration, dilation float64) (perTick float64, err error) {
	unit := p.TimeUnit()
	length, physical := units[unit.Name]
	switch {
	case !physical && tick <= 0:
		return 0, fmt.Errorf("emulated: the costs are in %s, which have no length: say how long one lasts", unit.Plural())
	case !physical:
		length = float64(tick)
	}
	if !(dilation > 0) || math.IsInf(dilation, 1) {
		return 0, fmt.Errorf("emulated: a dilation of %v: it must be above 0", dilation)
	}
	share, _ := unit.Rat(1).Float64()
	return share * length * dilation, nil
}

// leastOperation is the length from which on the error of a wait, some ten microseconds, is
// small.
const leastOperation = 5 * time.Millisecond

// longestIteration is how long a dilation may make the busiest device work: nobody waits hours for
// the sake of one short operation.
const longestIteration = 10 * time.Second

// SuggestDilation returns the least whole dilation, at least 1, with which the shortest
// operation of the program that takes any time lasts 5 ms, but none that keeps a device at work
// for more than 10 seconds. Shorter operations run as well, but their messages then take a larger
// part of the time. Errors as for [Scale]. Cost O(operations).
func SuggestDilation(p *model.Problem, plan *model.Plan, tick time.Duration) (float64, error) {
	perTick, err := Scale(p, tick, 1)
	if err != nil {
		return 0, err
	}
	shortest, busiest := model.Time(0), model.Time(0)
	for _, order := range plan.Order {
		busy := model.Time(0)
		for _, op := range order {
			d := p.Duration(op)
			busy += d
			if d > 0 && (shortest == 0 || d < shortest) {
				shortest = d
			}
		}
		busiest = max(busiest, busy)
	}
	if shortest == 0 {
		return 1, nil
	}
	enough := math.Ceil(float64(leastOperation) / (float64(shortest) * perTick))
	most := math.Floor(float64(longestIteration) / (float64(busiest) * perTick))
	return max(1, min(enough, most)), nil
}
