package heuristics

import (
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
)

// InterleavedRounds builds the interleaved schedule with rounds of a given size,
// as generators take it for an argument.
func InterleavedRounds(p *model.Problem, size int) (*model.Plan, error) {
	s, err := Lookup("interleaved")
	if err != nil {
		return nil, err
	}
	s.build = listed(func(c *chain, rank int, o *deviceOrder) { interleavedRounds(c, rank, o, size) })
	return s.Build(p)
}

// TestInterleavedRound compares with PyTorch's rule where it applies, and with
// Megatron-LM's condition everywhere.
func TestInterleavedRound(t *testing.T) {
	for ranks := 1; ranks <= 40; ranks++ {
		for micro := 1; micro <= 200; micro++ {
			size := cssr.InterleavedRound(ranks, micro)
			if rounds := max(1, micro/ranks); micro%rounds == 0 && size != micro/rounds {
				t.Errorf("%d ranks, %d micro-batches: rounds of %d, PyTorch's %d", ranks, micro, size, micro/rounds)
			}
			if rest := micro % size; size < min(ranks, micro) || rest > 0 && rest < ranks {
				t.Errorf("%d ranks, %d micro-batches: rounds of %d leave %d", ranks, micro, size, rest)
			}
		}
	}
}

// TestBlocks says that repeated building blocks do not collide, and that passes
// follow what they wait for.
func TestBlocks(t *testing.T) {
	for ranks := 1; ranks <= 100; ranks++ {
		for name, blockOf := range map[string]func(ranks, rank int) vBlock{"half": halfBlock, "min": minBlock} {
			for rank := range ranks {
				b := blockOf(ranks, rank)
				taken := map[int]bool{}
				for v, at := range b {
					taken[at%vPeriod] = true
					if v > 0 && at <= b[v-1] {
						t.Errorf("%s, rank %d of %d: %v is out of order", name, rank, ranks, b)
					}
					before := rank + 1
					if vPass(v).downstream() {
						before = rank - 1
					}
					if before >= 0 && before < ranks && blockOf(ranks, before)[v] >= at {
						t.Errorf("%s, rank %d of %d: %v does not follow rank %d", name, rank, ranks, b, before)
					}
				}
				if len(taken) != len(b) {
					t.Errorf("%s, rank %d of %d: %v collides with itself", name, rank, ranks, b)
				}
			}
		}
	}
}
