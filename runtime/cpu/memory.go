package cpu

// elementBytes is the size of a float32.
const elementBytes = 4

// An allocator hands out the memory of activations on one device, and counts it. What is
// given back waits, by size, for the next request of the same size: after the first
// micro-batches nothing new is allocated. It belongs to the goroutine of its device.
//
// Counted is what is handed out and not yet given back. What waits is not counted: it is
// there because Go's heap is not a device's memory, where an arena of the size of the peak
// would serve.
type allocator struct {
	free map[int][][]float32 // by length
	live int64               // bytes
	peak int64               // largest live
}

func newAllocator() *allocator { return &allocator{free: map[int][][]float32{}} }

// take returns n elements of any value, nil for none.
func (a *allocator) take(n int) []float32 {
	if n == 0 {
		return nil
	}
	a.live += int64(n) * elementBytes
	a.peak = max(a.peak, a.live)
	list := a.free[n]
	if len(list) == 0 {
		return make([]float32, n)
	}
	last := len(list) - 1
	data := list[last]
	a.free[n] = list[:last]
	return data
}

// give takes back what take returned, and clears the reference to it.
func (a *allocator) give(data *[]float32) {
	n := len(*data)
	if n == 0 {
		return
	}
	a.live -= int64(n) * elementBytes
	a.free[n] = append(a.free[n], *data)
	*data = nil
}

// restart forgets the peak of earlier iterations, and what one that failed has not given
// back: that may be anywhere, and is left to the garbage collector.
func (a *allocator) restart() {
	if a.live != 0 {
		a.live, a.free = 0, map[int][][]float32{}
	}
	a.peak = 0
}
