package cpu

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model/network"
)

// mostElements bounds every matrix of a network, so that no sum of sizes overflows.
const mostElements = 1 << 38

// SizeError reports a network that is larger than memory.
type SizeError struct {
	Need float64 // bytes, at least
	Have float64 // bytes; 0 if no machine has so many as Need
}

func (e *SizeError) Error() string {
	have := ""
	if e.Have > 0 {
		have = fmt.Sprintf(", and there are %.1f", e.Have/(1<<30))
	}
	return fmt.Sprintf("the cpu backend cannot train a network that takes at least %.1f GiB of memory in 32-bit floats%s; choose a smaller network or micro-batch, or use the emulated backend, which waits instead of computing",
		e.Need/(1<<30), have)
}

// countable refuses networks with a matrix that is beyond counting.
func countable(b *network.Blueprint) error {
	for i := range b.Stacks {
		s := &b.Stacks[i]
		rows := float64(b.MicroBatchSize) * float64(max(1, s.Sequence))
		width := max(4*float64(s.Hidden), float64(s.FeedForward), float64(s.Vocabulary))
		scores := rows * float64(s.Sequence) * float64(s.Heads)
		similarities := 0.0
		if b.Kind == "two-branch" {
			similarities = float64(b.MicroBatchSize) * float64(b.MicroBatchSize)
		}
		if most := max(rows*width, float64(s.Hidden)*width, scores, similarities); most > mostElements {
			return &SizeError{Need: most * elementBytes}
		}
	}
	return nil
}

// affordable refuses a network that takes more than limit bytes before its first operation
// has ended: the training state and the data of all stages, and a micro-batch in each.
func (l *layout) affordable(copies []copyPlan, microBatches int, limit int64) error {
	var need float64
	for s := range l.stages {
		size := newStage(l, s, 0, &home{}).bytes()
		need += float64(len(copies[s].devices)) * float64(size.Static+size.Work+size.Activation)
	}
	for p := range l.parts {
		part := &l.parts[p]
		row := part.stack.Hidden // of vectors, and of those wanted from an mlp
		switch {
		case part.stack.Vocabulary > 0:
			row = 2 // a token and its target
		case l.blueprint.Kind == "mlp":
			row *= 2
		}
		need += float64(microBatches) * float64(part.rows) * float64(row) * elementBytes
	}
	if need > float64(limit) {
		return &SizeError{Need: need, Have: float64(limit)}
	}
	return nil
}
