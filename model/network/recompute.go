package network

import "fmt"

// A Recompute says which activations a stage drops after the forward and
// computes again at the start of its backward. Its text forms are none,
// selective and full. The zero value is [RecomputeNone].
type Recompute uint8

// The ways to recompute, after Korthikanti et al., arXiv:2205.05198, Section 5.
const (
	// RecomputeNone keeps every activation.
	RecomputeNone Recompute = iota
	// RecomputeSelective drops the s×s matrices of attention, which are large
	// and cheap. Layers without attention are not affected.
	RecomputeSelective
	// RecomputeFull keeps only the input of each block and repeats the block's
	// whole forward. Embedding and head are not affected.
	RecomputeFull
)

var recomputes = [...]string{
	RecomputeNone:      "none",
	RecomputeSelective: "selective",
	RecomputeFull:      "full",
}

// ParseRecompute returns the way to recompute with the given name.
func ParseRecompute(name string) (Recompute, error) {
	for r, n := range recomputes {
		if n == name {
			return Recompute(r), nil
		}
	}
	return 0, fmt.Errorf("unknown recompute %q; known are none, selective, full", name)
}

// String returns the name of r.
func (r Recompute) String() string {
	if !r.valid() {
		return fmt.Sprintf("Recompute(%d)", uint8(r))
	}
	return recomputes[r]
}

// MarshalText returns the name of r.
func (r Recompute) MarshalText() ([]byte, error) {
	if !r.valid() {
		return nil, fmt.Errorf("unknown recompute %d", uint8(r))
	}
	return []byte(r.String()), nil
}

// UnmarshalText is [ParseRecompute].
func (r *Recompute) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRecompute(string(text))
	return err
}

func (r Recompute) valid() bool { return int(r) < len(recomputes) }

// checkRecompute returns an error unless list is nil, which means none
// everywhere, or has one known entry per stage.
func checkRecompute(list []Recompute, layers, stages int) error {
	if list == nil {
		return nil
	}
	if len(list) != stages {
		return partitionErrorf(layers, stages, "recompute has %d entries; give one per stage", len(list))
	}
	for s, r := range list {
		if !r.valid() {
			return partitionErrorf(layers, stages, "stage %d has the unknown recompute %d", s, uint8(r))
		}
	}
	return nil
}

// recomputeOf returns the entry of a stage in a list that passed
// [checkRecompute].
func recomputeOf(list []Recompute, stage int) Recompute {
	if list == nil {
		return RecomputeNone
	}
	return list[stage]
}
