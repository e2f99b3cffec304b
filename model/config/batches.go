package config

import (
	"fmt"
	"strconv"
)

// readMicroBatches reads how many micro-batches there are, and their factors.
func (d *decoder) readMicroBatches() {
	v, batch := d.root.get("micro_batches"), d.root.get("global_batch")
	ok := true
	switch {
	case v.listed():
		ok = d.readFactors(v)
	case !v.absent():
		d.config.MicroBatches, ok = v.whole(1, MaxMicroBatches)
	case batch.absent():
		v.failMissing("write how many micro-batches an iteration has, such as micro_batches: 8")
		return
	}
	if !batch.absent() {
		ok = d.readGlobalBatch(batch, v) && ok
	}
	if ok {
		d.limitOperations(v, batch)
	}
}

// readFactors reads a factor per micro-batch.
func (d *decoder) readFactors(v value) bool {
	items, _ := v.items("")
	if len(items) == 0 || len(items) > MaxMicroBatches {
		v.fail(plural(len(items), "factor")+" in the list", "list 1 to "+strconv.Itoa(MaxMicroBatches)+" factors")
		return false
	}
	d.config.MicroBatches = len(items)
	d.config.Factors = make([]Decimal, len(items))
	for i, item := range items {
		var ok bool
		if d.config.Factors[i], ok = item.positive(); !ok {
			return false
		}
	}
	return true
}

// maxGlobalBatch bounds the samples of an iteration.
const maxGlobalBatch = 1 << 30

// readGlobalBatch reads the samples per iteration. They determine the number of
// micro-batches, or agree with it.
func (d *decoder) readGlobalBatch(v, microBatches value) bool {
	size, ok := d.microBatchSize()
	if !ok {
		v.fail("the samples of a micro-batch are not known", "give a model, or a profile with micro_batch_size, or leave it out")
		return false
	}
	samples, ok := v.whole(1, maxGlobalBatch)
	if !ok {
		return false
	}
	d.config.GlobalBatch = samples
	if !microBatches.absent() {
		return d.agreeOnBatch(v, size)
	}
	if samples%size != 0 {
		v.fail(fmt.Sprintf("%s do not divide into micro-batches of %d", plural(samples, "sample"), size), fmt.Sprintf("write a multiple of %d", size))
		return false
	}
	if samples/size > MaxMicroBatches {
		v.fail(fmt.Sprintf("%d micro-batches are too many", samples/size), "use at most "+strconv.Itoa(MaxMicroBatches))
		return false
	}
	d.config.MicroBatches = samples / size
	return true
}

// agreeOnBatch fails when the micro-batches do not make up the global batch.
func (d *decoder) agreeOnBatch(v value, size int) bool {
	if d.config.MicroBatches == 0 || d.config.MicroBatches*size == d.config.GlobalBatch {
		return true
	}
	v.fail(fmt.Sprintf("%d micro-batches of %s are %d, not %d", d.config.MicroBatches, plural(size, "sample"), d.config.MicroBatches*size, d.config.GlobalBatch),
		"leave global_batch or micro_batches out")
	return false
}

// microBatchSize returns the samples of a micro-batch; ok is false when they are not known.
func (d *decoder) microBatchSize() (size int, ok bool) {
	switch {
	case d.config.Model != nil:
		return d.config.Model.MicroBatchSize, true
	case d.profile != nil && d.profile.result.MicroBatchSize > 0:
		return d.profile.result.MicroBatchSize, true
	}
	return 0, false
}

// limitOperations fails when the operations cannot be numbered.
func (d *decoder) limitOperations(v, batch value) {
	if d.config.Stages*d.config.MicroBatches*4 <= MaxOperations {
		return
	}
	if v.absent() {
		v = batch
	}
	v.fail(fmt.Sprintf("%s of %s are too many", plural(d.config.MicroBatches, "micro-batch"), plural(d.config.Stages, "stage")),
		fmt.Sprintf("keep stages x micro-batches below %d", MaxOperations/4+1))
}
