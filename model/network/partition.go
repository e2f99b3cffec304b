package network

import (
	"errors"
	"slices"
)

// A Partition is the number of consecutive layers in each stage, in the order of
// the chain; embedding and head count as layers. Every stage has at least one.
type Partition []int

// check returns an error unless p cuts n layers into stages that are not empty.
func (p Partition) check(n int) error {
	if len(p) == 0 {
		return partitionErrorf(n, 0, "there must be at least 1 stage")
	}
	sum := 0
	for s, count := range p {
		if count < 1 {
			return partitionErrorf(n, len(p), "stage %d would have %d layers; each needs at least 1", s, count)
		}
		if count > n-sum {
			return partitionErrorf(n, len(p), "stages 0 to %d have more layers than there are", s)
		}
		sum += count
	}
	if sum != n {
		return partitionErrorf(n, len(p), "the stages have %d layers in all", sum)
	}
	return nil
}

// checkCounts returns an error unless n layers can fill the given stages.
func checkCounts(n, stages int) error {
	switch {
	case stages < 1:
		return partitionErrorf(n, stages, "there must be at least 1 stage")
	case stages > n:
		return partitionErrorf(n, stages, "each stage needs at least 1; use at most %d stages", n)
	}
	return nil
}

// checkLayers is checkCounts for layers, of which the error tells blocks from
// embedding and head.
func checkLayers(layers []Layer, stages int) error {
	err := checkCounts(len(layers), stages)
	if p := (*PartitionError)(nil); errors.As(err, &p) {
		p.Ends = len(blockIndices(layers)) == len(layers)-2
	}
	return err
}

// Even returns the partition with as equal a number of blocks in each stage as
// possible; where the division leaves a rest, the first stages have one block
// more. The embedding goes with the first stage and the head with the last. It
// returns a [*PartitionError], which counts blocks, if there are more stages
// than blocks.
func Even(layers []Layer, stages int) (Partition, error) {
	blocks := len(blockIndices(layers))
	if err := checkCounts(blocks, stages); err != nil {
		return nil, err
	}
	counts := make([]int, stages)
	for s := range counts {
		counts[s] = blocks / stages
		if s < blocks%stages {
			counts[s]++
		}
	}
	return attach(layers, counts), nil
}

// Listed returns the partition with the given counts. They count either all
// layers or, if that is their sum, only the blocks; then the embedding goes with
// the first stage and the head with the last, and an end of the list may be 0
// for a stage that has nothing else. It returns a [*PartitionError] if the sum
// is neither, or a stage would be empty.
func Listed(layers []Layer, counts []int) (Partition, error) {
	if err := checkLayers(layers, len(counts)); err != nil {
		return nil, err
	}
	sum := 0
	for s, count := range counts {
		if count < 0 || count > len(layers) {
			return nil, partitionErrorf(len(layers), len(counts), "stage %d cannot have %d layers", s, count)
		}
		sum += count
	}
	p := Partition(slices.Clone(counts))
	if blocks := len(blockIndices(layers)); sum != len(layers) {
		if sum != blocks || blocks == 0 {
			return nil, partitionErrorf(len(layers), len(counts),
				"the list adds up to %d; it must add up to the %d blocks or to all layers", sum, blocks)
		}
		p = attach(layers, counts)
	}
	if err := p.check(len(layers)); err != nil {
		return nil, err
	}
	return p, nil
}

// blockIndices returns the indices of the blocks among layers.
func blockIndices(layers []Layer) []int {
	var indices []int
	for i := range layers {
		if layers[i].Kind == Block {
			indices = append(indices, i)
		}
	}
	return indices
}

// attach turns counts of blocks, which add up to all of them and to at least one,
// into counts of layers. Layers before the first block join the first stage, and
// other layers the stage of the block before them. A last stage without a block
// takes what follows the last block.
func attach(layers []Layer, counts []int) Partition {
	indices := blockIndices(layers)
	indices = append(indices, indices[len(indices)-1]+1)
	p := make(Partition, len(counts))
	start, blocks := 0, 0
	for s := range len(counts) - 1 {
		blocks += counts[s]
		p[s] = indices[blocks] - start
		start += p[s]
	}
	p[len(p)-1] = len(layers) - start
	return p
}
