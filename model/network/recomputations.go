package network

// Recomputations returns the ways of recomputation that change something in a network, in order:
// first none, then each that keeps other bytes or repeats work in some layer. The error is that of
// [Network].
func Recomputations(net Network) ([]Recompute, error) {
	parts, err := net.Parts()
	if err != nil {
		return nil, err
	}
	ways := []Recompute{RecomputeNone}
	for r := RecomputeNone + 1; r.valid(); r++ {
		for _, l := range concatenated(parts) {
			if l.changes(r) {
				ways = append(ways, r)
				break
			}
		}
	}
	return ways, nil
}

// changes reports whether a recomputation has an effect on the layer.
func (l *Layer) changes(r Recompute) bool { return l.checkpoint(r) != Checkpoint{Bytes: l.Activation} }
