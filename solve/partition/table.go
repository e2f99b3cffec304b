package partition

import "math/bits"

// table answers for any range of layers what it costs, in O(1). Modes are indices
// into Problem.modes.
type table struct {
	modes  []modeTable
	static []int64 // prefix sums, without and with what is tied
	tied   []int64
	least  []int64 // prefix sums of the least work of each layer
}

type modeTable struct {
	work, activation, backward []int64 // prefix sums
	// workspace[k][i] is the largest of layers i to i + 2^k; nil if there is none.
	workspace [][]int64
}

// newTable takes O(modes · layers · log layers).
func newTable(p *Problem) *table {
	t := &table{
		static: prefix(p.Layers, func(l *Layer) int64 { return l.Static }),
		tied:   prefix(p.Layers, func(l *Layer) int64 { return l.Static + l.Tied }),
	}
	for _, r := range p.modes() {
		m := modeTable{
			work:       prefix(p.Layers, func(l *Layer) int64 { return l.Modes[r].Work }),
			activation: prefix(p.Layers, func(l *Layer) int64 { return l.Modes[r].Activation }),
			backward:   prefix(p.Layers, func(l *Layer) int64 { return l.Modes[r].Backward }),
		}
		row, largest := make([]int64, len(p.Layers)), int64(0)
		for i := range p.Layers {
			row[i] = p.Layers[i].Modes[r].Workspace
			largest = max(largest, row[i])
		}
		if largest > 0 {
			m.workspace = rangeMaxima(row)
		}
		t.modes = append(t.modes, m)
	}
	t.least = prefix(p.Layers, func(l *Layer) int64 {
		least := int64(maxTotal)
		for _, r := range p.modes() {
			least = min(least, l.Modes[r].Work)
		}
		return least
	})
	return t
}

// prefix returns, for each i from 0 to len(layers), the sum over the first i layers.
func prefix(layers []Layer, of func(*Layer) int64) []int64 {
	sums := make([]int64, len(layers)+1)
	for i := range layers {
		sums[i+1] = sums[i] + of(&layers[i])
	}
	return sums
}

// rangeMaxima returns a sparse table (Bender and Farach-Colton 2000).
func rangeMaxima(row []int64) [][]int64 {
	rows := [][]int64{row}
	for width := 1; 2*width <= len(rows[0]); width *= 2 {
		next := make([]int64, len(row)-width)
		for i := range next {
			next[i] = max(row[i], row[i+width])
		}
		rows = append(rows, next)
		row = next
	}
	return rows
}

func (t *table) work(first, end, mode int) int64 {
	w := t.modes[mode].work
	return w[end] - w[first]
}

// leastWork is no more than the work under any mode, and additive over ranges.
func (t *table) leastWork(first, end int) int64 { return t.least[end] - t.least[first] }

// bytes returns the peak of layers first to end with so many micro-batches in
// flight. It does not decrease as end grows.
func (t *table) bytes(first, end, mode int, inFlight int64) int64 {
	m := &t.modes[mode]
	static := t.tied
	if first == 0 {
		static = t.static
	}
	sum := static[end] - static[first] + inFlight*(m.activation[end]-m.activation[first])
	sum += max(0, m.backward[end]-m.backward[first])
	if m.workspace != nil {
		k := bits.Len(uint(end-first)) - 1
		sum += max(m.workspace[k][first], m.workspace[k][end-1<<k])
	}
	return sum
}
