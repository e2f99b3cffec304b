package main

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
)

// otherWork says in what two problems are not about the same training, "" if they are. Stages,
// their places, their costs and the engines beside devices may differ.
func otherWork(a, b *model.Problem) (string, error) {
	x, y := a.Pipeline.RealDevices(), b.Pipeline.RealDevices()
	switch {
	case x != y:
		return fmt.Sprintf("%s, not %d", model.Plural(x, "device"), y), nil
	case a.MicroBatches() != b.MicroBatches():
		return fmt.Sprintf("%s, not %d", model.Plural(a.MicroBatches(), "micro-batch"), b.MicroBatches()), nil
	case a.Pipeline.Network == "" && b.Pipeline.Network == "":
		return "", nil
	case a.Pipeline.Network == "":
		return "it knows no network", nil
	case b.Pipeline.Network == "":
		return "it has a network", nil
	}
	own, err := network.DecodeBlueprint(a.Pipeline.Network)
	if err != nil {
		return "", err
	}
	other, err := network.DecodeBlueprint(b.Pipeline.Network)
	if err != nil {
		return "", err
	}
	return otherNetwork(own, other), nil
}

// otherNetwork says in what the network of a is not that of b, "" if it is, with micro-batches as
// large. Stages and the type of elements may differ.
func otherNetwork(a, b *network.Blueprint) string {
	switch {
	case a.Kind != b.Kind:
		return fmt.Sprintf("kind %s, not %s", a.Kind, b.Kind)
	case a.MicroBatchSize != b.MicroBatchSize:
		return fmt.Sprintf("micro-batches of %s, not %d", model.Plural(a.MicroBatchSize, "sample"), b.MicroBatchSize)
	case !slices.EqualFunc(a.Stacks, b.Stacks, sameStack):
		return "its layers have other sizes"
	}
	return ""
}

// sameStack compares the sizes of two stacks, those that follow from others filled in.
func sameStack(a, b network.Stack) bool { return explicit(a) == explicit(b) }

func explicit(s network.Stack) network.Stack {
	if s.FeedForward == 0 {
		s.FeedForward = 4 * s.Hidden
	}
	s.Sequence = max(s.Sequence, 1)
	return s
}
