package cpu

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model/network"
)

// A layout is a blueprint with what follows from it: how the stages hang together, and how
// large what passes between them is.
type layout struct {
	blueprint *network.Blueprint
	parts     []part
	stages    []place
}

// part is a chain of layers.
type part struct {
	network.Part
	stack network.Stack // of which it has the blocks; none for a loss on its own
	rows  int           // of a micro-batch in what passes between its layers
}

// place is a stage in the graph of stages.
type place struct {
	network.Slice
	before []int // stages that it reads, in the order of its inputs
	next   int   // the one stage that reads it, -1 for none
}

// UnsupportedError reports something that a pipeline may have and this package cannot train.
type UnsupportedError struct {
	What string // such as "tied embeddings"
	Why  string // what is missing, in a few words; "" if What says it all
	Fix  string // what to do; "" stands for the emulated backend
}

func (e *UnsupportedError) Error() string {
	text := "the cpu backend cannot train " + e.What
	if e.Why != "" {
		text += ": " + e.Why
	}
	if e.Fix == "" {
		return text + "; use the emulated backend, which waits instead of computing"
	}
	return text + "; " + e.Fix
}

// BlueprintError reports that a blueprint contradicts itself or its pipeline.
type BlueprintError struct {
	Stage   int    // -1 if it is about no single stage
	Problem string // what is wrong, and what would be right
}

func (e *BlueprintError) Error() string {
	if e.Stage < 0 {
		return "network blueprint: " + e.Problem
	}
	return fmt.Sprintf("network blueprint: stage %d %s", e.Stage, e.Problem)
}

// newLayout checks a blueprint. Errors are those of the blueprint's network, an
// *UnsupportedError, and a *BlueprintError for stages that do not hold each layer once.
func newLayout(b *network.Blueprint) (*layout, error) {
	if err := supported(b); err != nil {
		return nil, err
	}
	net, err := b.Network()
	if err != nil {
		return nil, err
	}
	parts, err := net.Parts()
	if err != nil {
		return nil, err
	}
	l := &layout{blueprint: b}
	for i := range parts {
		p := part{Part: parts[i], rows: b.MicroBatchSize}
		if i < len(b.Stacks) {
			p.stack = b.Stacks[i]
			p.rows *= max(1, p.stack.Sequence)
		}
		l.parts = append(l.parts, p)
	}
	return l, l.place()
}

// supported refuses networks for which there are no layers.
func supported(b *network.Blueprint) error {
	switch {
	case b.Kind == "encoder-decoder":
		return &UnsupportedError{What: "kind encoder-decoder", Why: "it has no cross attention"}
	case b.Kind == "two-branch" && len(b.Stacks) > 2:
		return &UnsupportedError{What: "a joint stack", Why: "it has only the contrastive loss on top of two branches"}
	case b.Shards > 0:
		return &UnsupportedError{What: "a vocabulary that devices share", Fix: "set vocabulary_sharding: none, or use the emulated backend"}
	}
	for i := range b.Stacks {
		if b.Stacks[i].TiedEmbedding {
			return &UnsupportedError{What: "a tied embedding", Fix: "set tied_embedding: false, or use the emulated backend"}
		}
		if v := b.Stacks[i].Vocabulary; v != 0 && v < minVocabulary {
			return &UnsupportedError{
				What: fmt.Sprintf("a vocabulary of %d", v),
				Fix:  fmt.Sprintf("set vocabulary to at least %d: a token is a byte of an ASCII text", minVocabulary),
			}
		}
	}
	return nil
}

// place finds the stages before and after each stage, and checks that they cover the layers.
func (l *layout) place() error {
	last := slices.Repeat([]int{-1}, len(l.parts)) // by part: the stage with the last layer so far
	end := make([]int, len(l.parts))               // by part: that layer, exclusive
	// Stages of a part follow each other in number in every pipeline that cssr builds; where
	// they do not, first sorts them by part and layer.
	for _, s := range l.inOrder() {
		slice := l.blueprint.Stages[s]
		if slice.Part < 0 || slice.Part >= len(l.parts) {
			return &BlueprintError{s, fmt.Sprintf("is of part %d; the network has parts 0 to %d", slice.Part, len(l.parts)-1)}
		}
		if slice.First != end[slice.Part] || slice.End <= slice.First || slice.End > len(l.parts[slice.Part].Layers) {
			return &BlueprintError{s, fmt.Sprintf("holds layers %d to %d of part %d, where the next to come is %d of %d; each layer belongs to one stage",
				slice.First, slice.End, slice.Part, end[slice.Part], len(l.parts[slice.Part].Layers))}
		}
		at := &l.stages[s]
		if slice.First > 0 {
			at.before = []int{last[slice.Part]}
		} else {
			for _, p := range l.parts[slice.Part].After {
				at.before = append(at.before, last[p])
			}
		}
		last[slice.Part], end[slice.Part] = s, slice.End
	}
	for p := range l.parts {
		if n := len(l.parts[p].Layers); end[p] != n {
			return &BlueprintError{-1, fmt.Sprintf("no stage holds layer %d of part %d", end[p], p)}
		}
	}
	for s := range l.stages {
		for _, q := range l.stages[s].before {
			l.stages[q].next = s
		}
	}
	return nil
}

// inOrder fills the slices of the stages, and returns their numbers by part and layer.
func (l *layout) inOrder() []int {
	var order []int
	for s, slice := range l.blueprint.Stages {
		l.stages = append(l.stages, place{Slice: slice, next: -1})
		order = append(order, s)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := l.stages[a], l.stages[b]
		if x.Part != y.Part {
			return x.Part - y.Part
		}
		return x.First - y.First
	})
	return order
}

// between returns the elements of what passes between the layers of a stage, and from it to
// the next one.
func (l *layout) between(s int) int {
	p := &l.parts[l.stages[s].Part]
	return p.rows * p.stack.Hidden
}
