package model

import (
	"cmp"
	"container/heap"
)

// RowOrder returns all rows so that each stands behind its predecessors, of both
// cases of a choice. Among rows that could come next, the one that compares
// lowest does, ties by number; a nil compare is always 0. The precedences of a
// compiled problem have no cycle. Cost O((rows + precedences) · log rows).
func (p *Problem) RowOrder(compare func(a, b int32) int) []int32 {
	waits := make([]int32, len(p.Rows))
	for r := range p.Rows {
		for _, s := range p.Succs[r] {
			waits[s.Row]++
		}
	}
	next := &rowHeap{compare: compare}
	for r, n := range waits {
		if n == 0 {
			next.rows = append(next.rows, int32(r))
		}
	}
	heap.Init(next)
	order := make([]int32, 0, len(p.Rows))
	for next.Len() > 0 {
		r := heap.Pop(next).(int32)
		order = append(order, r)
		for _, s := range p.Succs[r] {
			if waits[s.Row]--; waits[s.Row] == 0 {
				heap.Push(next, s.Row)
			}
		}
	}
	return order
}

type rowHeap struct {
	rows    []int32
	compare func(a, b int32) int
}

func (h *rowHeap) Len() int { return len(h.rows) }
func (h *rowHeap) Less(i, j int) bool {
	a, b := h.rows[i], h.rows[j]
	if h.compare != nil {
		if c := h.compare(a, b); c != 0 {
			return c < 0
		}
	}
	return cmp.Compare(a, b) < 0
}
func (h *rowHeap) Swap(i, j int) { h.rows[i], h.rows[j] = h.rows[j], h.rows[i] }
func (h *rowHeap) Push(x any)    { h.rows = append(h.rows, x.(int32)) }
func (h *rowHeap) Pop() any {
	last := h.rows[len(h.rows)-1]
	h.rows = h.rows[:len(h.rows)-1]
	return last
}
