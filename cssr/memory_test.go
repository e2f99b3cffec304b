package cssr

import (
	"context"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// TestWalksHoldRowsWithMemory demands that rows without memory do not count as
// micro-batches in flight: a backlog of weight gradients that hold nothing would
// be walked at each admission.
func TestWalksHoldRowsWithMemory(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 3,
		Activation: []model.Bytes{1}, FreedByI: []model.Bytes{1}, Limit: []model.Bytes{1}})
	for c := range numCanons {
		for d, rows := range walks(p, c) {
			for _, r := range rows {
				if p.Rows[r].Memory == nil {
					t.Errorf("order %d, device %d: %v uses no memory", c, d, p.Rows[r].Kind)
				}
			}
			if len(rows) != 2 {
				t.Errorf("order %d, device %d: %d rows, want forward and backward input", c, d, len(rows))
			}
		}
	}
}

// TestSafeSeesMicroBatchesPastTheForwards asks for a verdict when no row has begun
// more operations than the backward passes of micro-batch 0, but for the forwards,
// which are done. Micro-batch 1 still has to take 2 for its second stage.
func TestSafeSeesMicroBatchesPastTheForwards(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 1, MicroBatches: 2, Placement: [][]int{{0}, {0}},
		Activation: []model.Bytes{1}, FreedByI: []model.Bytes{0, -2}, Limit: []model.Bytes{5}})
	d := NewDecoder(p)
	if _, err := d.Decode(context.Background(), NewRule(p), 0); err != nil {
		t.Fatal(err)
	}
	// Rows: F0 I0 W0 F1 I1 W1. Micro-batch 0 is done but for W0; 1 has run its forwards.
	for r, next := range []int32{2, 1, 0, 2, 1, 1} {
		d.rows[r].next = next
	}
	const weight0 = 2
	for free, want := range map[model.Bytes]bool{1: false, 2: true} {
		if got := d.memory.safe(d, 0, weight0, free); got != want {
			t.Errorf("%d free once W0 of micro-batch 0 has run: safe %v, want %v", free, got, want)
		}
	}
}
