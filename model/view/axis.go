package view

import (
	"math/big"

	"github.com/flexpipe/flexpipe/model"
)

// scale maps times from 0 to end to positions from 0 to size. Very long times
// lose low bits, so that no product overflows.
type scale struct {
	end, size int64
	shift     uint
}

func newScale(end model.Time, size int) scale {
	s := scale{end: int64(end), size: int64(size)}
	for s.end > 1<<40 {
		s.end >>= 1
		s.shift++
	}
	s.end = max(s.end, 1)
	return s
}

// fine returns a time in units of which each position has end.
func (s scale) fine(t model.Time) int64 { return int64(t) >> s.shift * s.size }

// at returns the position of a time, rounded down.
func (s scale) at(t model.Time) int64 { return s.fine(t) / s.end }

// mark is a labelled point of an axis.
type mark struct {
	at    *big.Rat // ticks
	label string
}

// position returns where a mark stands on an axis of the given size.
func (m mark) position(end model.Time, size int) int {
	r := new(big.Rat).Mul(m.at, big.NewRat(int64(size), max(int64(end), 1)))
	return int(new(big.Int).Quo(r.Num(), r.Denom()).Int64())
}

// marks returns marks from 0 to end at multiples of 1, 2 or 5 times a power of
// ten of the unit, no closer than a tick, as many as fit but at most about room.
func marks(unit model.Unit, end model.Time, room int) []mark {
	tick := unit.Rat(1)
	total, most := unit.Rat(int64(end)), new(big.Rat).SetInt64(int64(max(room, 1)))
	step := newStep()
	fits := func() bool { return new(big.Rat).Quo(total, step.value()).Cmp(most) <= 0 }
	apart := func() bool { return step.value().Cmp(tick) >= 0 }
	for !fits() || !apart() {
		step.grow(1)
	}
	for fits() && apart() {
		step.grow(-1)
	}
	step.grow(1)
	digits, _ := step.value().FloatPrec()
	var all []mark
	for at := new(big.Rat); at.Cmp(total) <= 0; at = new(big.Rat).Add(at, step.value()) {
		all = append(all, mark{new(big.Rat).Quo(at, tick), at.FloatString(digits)})
	}
	return all
}

// step is 1, 2 or 5 times a power of ten: index 3k + i is {1, 2, 5}[i] × 10^k.
type step struct{ index int }

func newStep() *step { return &step{} }

func (s *step) grow(by int) { s.index += by }

func (s *step) value() *big.Rat {
	power, i := s.index/3, s.index%3
	if i < 0 {
		power, i = power-1, i+3
	}
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(power, -power))), nil)
	v := new(big.Rat).SetInt64([]int64{1, 2, 5}[i])
	if power < 0 {
		return v.Quo(v, new(big.Rat).SetInt(ten))
	}
	return v.Mul(v, new(big.Rat).SetInt(ten))
}
