package network

import (
	"fmt"
	"math"
	"time"
)

// A Cluster is what the devices and links of a machine can do. All devices are
// alike; differences between them are factors on costs and not part of it.
type Cluster struct {
	// FLOPs is the peak rate of a device in floating-point operations per
	// second.
	FLOPs float64
	// Efficiency is the fraction of FLOPs that matrix products reach, in (0, 1];
	// 0 means 1.
	Efficiency float64
	// LinkBandwidth is the rate between two devices in bytes per second; 0 means
	// that size does not matter.
	LinkBandwidth float64
	// LinkLatency is the time that a message takes whatever its size.
	LinkLatency time.Duration
	// DevicesPerNode is the number of consecutive devices that share a node; 0
	// means that there is only one node.
	DevicesPerNode int
	// NodeBandwidth replaces LinkBandwidth between devices on different nodes;
	// 0 means LinkBandwidth.
	NodeBandwidth float64
}

// Validate returns a [*FieldError] for the first field that is out of range.
func (c Cluster) Validate() error {
	switch {
	case !(c.FLOPs > 0) || math.IsInf(c.FLOPs, 1):
		return &FieldError{"cluster", "flops", c.FLOPs, "must be a positive number of operations per second"}
	case !(c.Efficiency >= 0 && c.Efficiency <= 1):
		return &FieldError{"cluster", "efficiency", c.Efficiency, "must be above 0 and at most 1"}
	case !validRate(c.LinkBandwidth):
		return &FieldError{"cluster", "link_bandwidth", c.LinkBandwidth, "must be a positive number of bytes per second"}
	case c.LinkLatency < 0:
		return &FieldError{"cluster", "link_latency", c.LinkLatency, "must not be negative"}
	case c.DevicesPerNode < 0:
		return &FieldError{"cluster", "devices_per_node", c.DevicesPerNode, "must be at least 1"}
	case !validRate(c.NodeBandwidth):
		return &FieldError{"cluster", "node_bandwidth", c.NodeBandwidth, "must be a positive number of bytes per second"}
	}
	return nil
}

// validRate reports whether r is a finite rate or 0, which stands for a default.
func validRate(r float64) bool { return r >= 0 && !math.IsInf(r, 1) }

// Duration returns how long a device works on flops operations,
//
//	flops / (FLOPs · Efficiency) seconds,
//
// rounded to the nearest nanosecond, halves up, but at least 1 ns for any work at
// all: no rate makes a network free. It returns an error if the result is beyond
// [time.Duration], about 292 years. The cluster must be valid.
func (c Cluster) Duration(flops float64) (time.Duration, error) {
	rate := c.FLOPs
	if c.Efficiency > 0 {
		rate *= c.Efficiency
	}
	d, ok := duration(flops, rate)
	if !ok {
		return 0, &FieldError{"cluster", "flops", c.FLOPs, fmt.Sprintf("%g operations would take more than 292 years", flops)}
	}
	return d, nil
}

// Latency returns the time from the end of a producer on device from to the
// earliest start of a consumer of bytes on device to:
//
//	LinkLatency + bytes / bandwidth,
//
// the second term rounded as in [Cluster.Duration], and 0 on the same device. The
// bandwidth is NodeBandwidth if the devices are on different
// nodes. It returns an error as [Cluster.Duration] does. The cluster must be
// valid, the devices and bytes not negative.
func (c Cluster) Latency(from, to int, bytes int64) (time.Duration, error) {
	if from == to {
		return 0, nil
	}
	field, rate := c.bandwidth(from, to)
	if rate == 0 {
		return c.LinkLatency, nil
	}
	d, ok := duration(float64(bytes), rate)
	if !ok || d > maxDuration-c.LinkLatency {
		return 0, tooLong(field, rate, bytes)
	}
	return c.LinkLatency + d, nil
}

// maxDuration is the longest duration.
const maxDuration = time.Duration(math.MaxInt64)

// tooLong returns the error for bytes that take longer than that.
func tooLong(field string, rate float64, bytes int64) error {
	return &FieldError{"cluster", field, rate, fmt.Sprintf("%d bytes would take more than 292 years", bytes)}
}

// bandwidth returns the rate between two devices and the field that sets it.
func (c Cluster) bandwidth(from, to int) (field string, rate float64) {
	if c.NodeBandwidth > 0 && c.DevicesPerNode > 0 && from/c.DevicesPerNode != to/c.DevicesPerNode {
		return "node_bandwidth", c.NodeBandwidth
	}
	return "link_bandwidth", c.LinkBandwidth
}

// duration returns amount / perSecond, at least 1 ns unless amount is 0, and false
// if it does not fit. For values that are not negative math.Round rounds halves up.
func duration(amount, perSecond float64) (time.Duration, bool) {
	ns := math.Round(amount * 1e9 / perSecond)
	if amount > 0 {
		ns = max(1, ns)
	}
	return time.Duration(ns), ns < math.MaxInt64
}
