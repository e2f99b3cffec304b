package sat

import (
	"context"

	"github.com/flexpipe/flexpipe/model"
)

// maxForced is the number of operations with an effect on memory up to which a
// device is looked at.
const maxForced = 512

// force finds pairs of operations on a device with a memory limit of which the
// limit leaves only one order, and adds them to the closure: with the other one,
// even if all that can still give back memory did, the limit would be broken. It
// reports whether there are new ones. It leaves out devices with too many
// operations.
//
// Cost O(devices · maxForced³).
func (s *system) force(ctx context.Context) bool {
	found := false
	peers := s.peers()
	for d, limit := range s.p.Limits {
		if limit >= model.Unlimited {
			continue
		}
		f := s.newForcing(d, peers[d])
		if len(f.jobs) > maxForced {
			continue
		}
		for _, o := range f.jobs {
			if f.peak[o] > 0 && f.taker(o) {
				found = true
			}
			if s.closure.cyclic || ctx.Err() != nil {
				return false
			}
		}
	}
	return found
}

// forcing is the look of force at one device.
type forcing struct {
	*system
	device int
	jobs   []int32
	least  map[int32]model.Bytes // by job with an effect: the least that it holds behind it
	peak   map[int32]model.Bytes // by job: the least that it takes while it runs
}

func (s *system) newForcing(d int, peers []int32) *forcing {
	f := &forcing{system: s, device: d, least: map[int32]model.Bytes{}, peak: map[int32]model.Bytes{}}
	for _, j := range peers {
		m := s.memoryOn(j, d)
		least, most := min(net(m[0]), net(m[1])), min(peak(m[0]), peak(m[1]))
		if least != 0 || most > 0 {
			f.jobs = append(f.jobs, j)
			f.least[j], f.peak[j] = least, most
		}
	}
	return f
}

// taker looks at an operation that takes memory: which others must stand before
// or after it.
func (f *forcing) taker(o int32) bool {
	found := false
	for _, a := range f.jobs {
		if a == o || f.closure.before(a, o) || f.closure.before(o, a) {
			continue
		}
		switch least := f.least[a]; {
		case least < 0 && f.held(o, a, false) > f.p.Limits[f.device]:
			found = f.put(a, o) || found
		case least > 0 && f.held(o, a, true) > f.p.Limits[f.device]:
			found = f.put(o, a) || found
		}
	}
	return found
}

// put notes that a stands before b.
func (f *forcing) put(a, b int32) bool {
	f.forced = append(f.forced, [2]int32{a, b})
	return f.closure.add(a, b)
}

// held returns the least that is held when o starts, supposing that a stands
// before o, or after it.
func (f *forcing) held(o, a int32, before bool) model.Bytes {
	sum := f.p.Statics[f.device] + f.peak[o]
	for _, x := range f.jobs {
		switch least := f.least[x]; {
		case x == o || f.closure.before(o, x):
		case f.closure.before(x, o):
			sum += least
		case before && (x == a || f.closure.before(x, a)):
			sum += least
		case !before && (x == a || f.closure.before(a, x)):
		default:
			sum += min(0, least)
		}
	}
	return sum
}
