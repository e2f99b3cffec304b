package cpu

import (
	"fmt"

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

// BlueprintError reports that a pipeline is not that of its blueprint.
type BlueprintError struct {
	Stage   int    // -1 if it is about no single stage
	Problem string // what is wrong, and what would be right
}

func (e *BlueprintError) Error() string {
	if e.Stage < 0 {
		return "the pipeline is not that of its network blueprint: " + e.Problem
	}
	return fmt.Sprintf("the pipeline is not that of its network blueprint: stage %d %s", e.Stage, e.Problem)
}

// newLayout checks a blueprint. Errors are an *UnsupportedError, a *SizeError, and that of the
// blueprint's own Validate.
func newLayout(b *network.Blueprint) (*layout, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	if err := supported(b); err != nil {
		return nil, err
	}
	if err := countable(b); err != nil {
		return nil, err
	}
	parts, err := b.StageParts()
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
	l.place()
	return l, nil
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

// place finds the stages before and after each stage. A valid blueprint lists stages by part
// and layer.
func (l *layout) place() {
	last := make([]int, len(l.parts)) // by part: the last stage so far
	for s, slice := range l.blueprint.Stages {
		at := place{Slice: slice, next: -1}
		if slice.First > 0 {
			at.before = []int{s - 1}
		} else {
			for _, p := range l.parts[slice.Part].After {
				at.before = append(at.before, last[p])
			}
		}
		for _, q := range at.before {
			l.stages[q].next = s
		}
		l.stages = append(l.stages, at)
		last[slice.Part] = s
	}
}

// between returns the elements of what passes between the layers of a stage.
func (l *layout) between(s int) int {
	p := &l.parts[l.stages[s].Part]
	return p.rows * p.stack.Hidden
}

// output returns the elements of what layer i of a part puts out.
func (l *layout) output(p, i int) int {
	part := &l.parts[p]
	switch last := i == len(part.Layers)-1; {
	case last && p == l.lossPart():
		return 0
	case last && l.pooled(p):
		return l.blueprint.MicroBatchSize * part.stack.Hidden
	}
	return part.rows * part.stack.Hidden
}

// outputOf returns the elements of what a stage puts out.
func (l *layout) outputOf(s int) int { return l.output(l.stages[s].Part, l.stages[s].End-1) }

// lossPart returns the part whose last layer writes the loss: the last one.
func (l *layout) lossPart() int { return len(l.parts) - 1 }
