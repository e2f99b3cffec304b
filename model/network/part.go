package network

// A Part is a chain of layers: each reads what the one before it puts out. The first
// reads the outputs of the parts in After.
//
// A network of one part is a chain. Others are graphs of a few chains, such as the two
// branches of [TwoBranch] and what joins them. Stages are cut within parts: a stage
// is a run of consecutive layers of one part.
type Part struct {
	// Name is unique in its network, such as "encoder"; "" in a network that has no
	// other part with blocks.
	Name string
	// Layers are the layers in the order of the forward, at least one.
	Layers []Layer
	// After lists the parts whose outputs the first layer reads, all of them before
	// this part.
	After []int
	// Seat says how the layers come to stages.
	Seat Seat
}

// A Seat says how the layers of a part come to stages, and stages to devices.
type Seat uint8

// The seats.
const (
	// Dealt layers are cut into stages by a [Partition].
	Dealt Seat = iota
	// Beside makes one stage of the layers, on the devices of the last stage of the
	// last part in After: they are too little work for a stage that counts.
	Beside
	// Everywhere makes one stage of the layers, on a gang of all devices, which share
	// the work; see [Layer.Shards].
	Everywhere
)

// dealt returns the parts with the seat [Dealt].
func dealt(parts []Part) []Part {
	var list []Part
	for i := range parts {
		if parts[i].Seat == Dealt {
			list = append(list, parts[i])
		}
	}
	return list
}

// DealtLayers returns the layers that a [Partition] of the parts counts, those of the
// parts with the seat [Dealt], and how many there are in each of these parts.
func DealtLayers(parts []Part) (layers []Layer, counts []int) {
	for _, part := range dealt(parts) {
		layers = append(layers, part.Layers...)
		counts = append(counts, len(part.Layers))
	}
	return layers, counts
}

// BalancedParts returns the partition of the dealt layers of parts with the smallest
// largest time of a stage, as [Balanced] does for one chain. No stage holds layers of
// two parts, so a part gets stages in proportion to its work, and at least one.
//
// It is exact: a stage that crosses from one part to the next costs more than all
// layers on the slowest device, so that [MinMax] avoids it. It returns a
// [*PartitionError] if there are more stages than layers, fewer than parts, or the
// options do not fit the stages.
func BalancedParts(parts []Part, stages int, options BalanceOptions) (Partition, error) {
	layers, counts := DealtLayers(parts)
	if err := checkParts(layers, counts, stages); err != nil {
		return nil, err
	}
	if err := options.check(layers, stages); err != nil {
		return nil, err
	}
	cost := options.costs(layers)
	if len(counts) == 1 {
		return MinMax(len(layers), stages, cost)
	}
	part, penalty := partNumbers(counts), 1.0
	for s := range stages {
		penalty = max(penalty, 2*cost(s, 0, len(layers)))
	}
	return MinMax(len(layers), stages, func(stage, first, end int) float64 {
		return cost(stage, first, end) + float64(part[end-1]-part[first])*penalty
	})
}

// EvenParts returns the partition of the dealt layers of parts with as equal a number of
// blocks in each stage as possible: each further stage goes to the part whose stages
// have the most blocks, the first among equals, and within a part stages are cut as
// [Even] does. It returns a [*PartitionError] if there are more stages than blocks, or
// fewer than parts.
func EvenParts(parts []Part, stages int) (Partition, error) {
	layers, counts := DealtLayers(parts)
	if err := checkParts(layers, counts, stages); err != nil {
		return nil, err
	}
	if len(counts) == 1 {
		return Even(layers, stages)
	}
	var partition Partition
	list := dealt(parts)
	for p, share := range evenShares(list, stages) {
		cut, err := Even(list[p].Layers, share)
		if err != nil {
			return nil, partitionErrorf(len(blockIndices(layers)), stages, "each stage needs at least 1 block of one part")
		}
		partition = append(partition, cut...)
	}
	return partition, nil
}

// evenShares returns the number of stages of each part.
func evenShares(parts []Part, stages int) []int {
	blocks, shares := make([]int, len(parts)), make([]int, len(parts))
	for p := range parts {
		blocks[p], shares[p] = len(blockIndices(parts[p].Layers)), 1
	}
	for range stages - len(parts) {
		fullest := 0
		for p := range parts {
			if blocks[p]*shares[fullest] > blocks[fullest]*shares[p] {
				fullest = p
			}
		}
		shares[fullest]++
	}
	return shares
}

// ListedParts returns the partition with the given counts, one per stage over all dealt
// parts in order. They count either all layers or, if that is their sum, only the blocks,
// as in [Listed]. It returns a [*PartitionError] if the counts do not say where
// each part ends, or a stage would be empty.
func ListedParts(parts []Part, counts []int) (Partition, error) {
	layers, sizes := DealtLayers(parts)
	if len(sizes) == 1 {
		return Listed(layers, counts)
	}
	if err := checkParts(layers, sizes, len(counts)); err != nil {
		return nil, err
	}
	total := 0
	for _, count := range counts {
		total += count
	}
	var partition Partition
	first := 0
	for _, part := range dealt(parts) {
		size := len(part.Layers)
		if total != len(layers) {
			size = len(blockIndices(part.Layers))
		}
		n, ok := stagesOf(counts[first:], size)
		if !ok {
			return nil, partitionErrorf(len(layers), len(counts),
				"the %d layers of the %s do not end with a stage; a stage holds layers of one part", size, part.Name)
		}
		cut, err := Listed(part.Layers, counts[first:first+n])
		if err != nil {
			return nil, err
		}
		partition, first = append(partition, cut...), first+n
	}
	if first != len(counts) {
		return nil, partitionErrorf(len(layers), len(counts), "stage %d would be empty", first)
	}
	return partition, nil
}

// stagesOf returns how many of the next stages hold exactly size layers, if any do.
func stagesOf(counts []int, size int) (n int, ok bool) {
	for n < len(counts) && size > 0 {
		size -= counts[n]
		n++
	}
	return n, size == 0
}

// checkParts returns an error unless the layers of so many parts can fill the stages.
func checkParts(layers []Layer, parts []int, stages int) error {
	if stages < len(parts) {
		return partitionErrorf(len(layers), stages,
			"a stage holds layers of one part, and there are %d parts", len(parts))
	}
	return checkLayers(layers, stages)
}

// partNumbers returns the number of the part of each layer, given the parts' sizes.
func partNumbers(sizes []int) []int {
	var numbers []int
	for p, size := range sizes {
		for range size {
			numbers = append(numbers, p)
		}
	}
	return numbers
}

// PartStages returns the stages of all parts in order, as [Stages] does for one chain.
// The partition and recompute, nil for none, count the stages of the dealt parts in
// order; every other part is one stage more, which recomputes nothing. First and End of
// a stage count within its part.
//
// Errors are those of [Stages], and a [*PartitionError] for a stage that crosses from
// one part to the next.
func PartStages(parts []Part, cluster Cluster, partition Partition, recompute []Recompute) ([]Stage, error) {
	layers, _ := DealtLayers(parts)
	if err := partition.check(len(layers)); err != nil {
		return nil, err
	}
	if err := checkRecompute(recompute, len(layers), len(partition)); err != nil {
		return nil, err
	}
	var all []Stage
	done := 0 // stages of the partition
	for p := range parts {
		cut, ways := Partition{len(parts[p].Layers)}, []Recompute(nil)
		if parts[p].Seat == Dealt {
			n, ok := stagesOf(partition[done:], len(parts[p].Layers))
			if !ok {
				return nil, partitionErrorf(len(layers), len(partition),
					"stage %d would hold layers of the %s and of the part after it; a stage holds layers of one part", done+n-1, parts[p].Name)
			}
			cut, ways = partition[done:done+n], stagesFrom(recompute, done, n)
			done += n
		}
		stages, err := Stages(parts[p].Layers, cluster, cut, ways)
		if err != nil {
			return nil, err
		}
		for s := range stages {
			stages[s].Part = p
		}
		all = append(all, stages...)
	}
	return all, nil
}

// stagesFrom returns the entries of n stages from first on, nil of a list that is nil.
func stagesFrom(list []Recompute, first, n int) []Recompute {
	if list == nil {
		return nil
	}
	return list[first : first+n]
}

// StageGraph returns, for each stage that [PartStages] made of parts, the stages that it
// follows: the one before it in its part or, for the first of a part, the last ones of
// the parts that this part reads.
func StageGraph(parts []Part, stages []Stage) [][]int {
	after, last := make([][]int, len(stages)), make([]int, len(parts))
	for s := range stages {
		p := stages[s].Part
		if stages[s].First > 0 {
			after[s] = []int{s - 1}
		} else {
			for _, q := range parts[p].After {
				after[s] = append(after[s], last[q])
			}
		}
		last[p] = s
	}
	return after
}
