package network_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model/network"
)

func TestClusterDuration(t *testing.T) {
	c := network.Cluster{FLOPs: 4e9, Efficiency: 0.5} // 2 FLOPs a nanosecond
	for flops, want := range map[float64]time.Duration{0: 0, 1e-30: 1, 0.5: 1, 1: 1, 2: 1, 3: 2, 4.9: 2, 5: 3, 2e9: time.Second} {
		if got := must[time.Duration](t)(c.Duration(flops)); got != want {
			t.Errorf("%g FLOPs take %v, want %v", flops, got, want)
		}
	}
	c.Efficiency = 0
	if got := must[time.Duration](t)(c.Duration(4e9)); got != time.Second {
		t.Errorf("without an efficiency, a second's work takes %v", got)
	}
	for _, flops := range []float64{4e9 * math.MaxInt64, math.Inf(1)} {
		if d, err := c.Duration(flops); err == nil {
			t.Errorf("%g FLOPs take %v, want an error", flops, d)
		}
	}
}

func TestClusterLatency(t *testing.T) {
	c := network.Cluster{
		FLOPs: 1, LinkBandwidth: 2e9, LinkLatency: 5 * time.Microsecond,
		DevicesPerNode: 4, NodeBandwidth: 1e9,
	}
	for _, x := range []struct {
		from, to int
		bytes    int64
		want     time.Duration
	}{
		{2, 2, 1 << 30, 0},
		{0, 1, 0, 5000},
		{0, 3, 2000, 6000},
		{3, 0, 2001, 6001}, // 1000.5 ns, half up
		{3, 4, 2000, 7000},
		{9, 0, 1, 5001},
	} {
		if got := must[time.Duration](t)(c.Latency(x.from, x.to, x.bytes)); got != x.want {
			t.Errorf("%d bytes from %d to %d take %v, want %v", x.bytes, x.from, x.to, got, x.want)
		}
	}
	c.NodeBandwidth = 1e30
	if got := must[time.Duration](t)(c.Latency(0, 9, 1)); got != 5001 {
		t.Errorf("at any rate, a byte takes %v, want 1 ns more than none", got)
	}
	c.DevicesPerNode = 0
	if got := must[time.Duration](t)(c.Latency(0, 9, 2000)); got != 6000 {
		t.Errorf("in one node, 2000 bytes take %v, want 6µs", got)
	}
	c.LinkBandwidth = 1e-9
	if d, err := c.Latency(0, 1, 1<<40); err == nil {
		t.Errorf("2^40 bytes at 1e-9 bytes per second take %v, want an error", d)
	}
	c.LinkBandwidth = 0
	if got := must[time.Duration](t)(c.Latency(0, 1, 1<<40)); got != 5000 {
		t.Errorf("without a bandwidth, 2^40 bytes take %v, want 5µs", got)
	}
}

func TestClusterValidate(t *testing.T) {
	if err := a100.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		field  string
		change func(*network.Cluster)
	}{
		{"flops", func(c *network.Cluster) { c.FLOPs = 0 }},
		{"flops", func(c *network.Cluster) { c.FLOPs = math.NaN() }},
		{"flops", func(c *network.Cluster) { c.FLOPs = math.Inf(1) }},
		{"efficiency", func(c *network.Cluster) { c.Efficiency = 1.1 }},
		{"efficiency", func(c *network.Cluster) { c.Efficiency = math.NaN() }},
		{"link_bandwidth", func(c *network.Cluster) { c.LinkBandwidth = -1 }},
		{"link_latency", func(c *network.Cluster) { c.LinkLatency = -1 }},
		{"devices_per_node", func(c *network.Cluster) { c.DevicesPerNode = -1 }},
		{"node_bandwidth", func(c *network.Cluster) { c.NodeBandwidth = math.NaN() }},
	} {
		c := a100
		x.change(&c)
		var field *network.FieldError
		if err := c.Validate(); !errors.As(err, &field) || field.Owner != "cluster" || field.Field != x.field {
			t.Errorf("error is %v, want one for cluster: %s", err, x.field)
		}
	}
}
