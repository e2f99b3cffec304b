package config

import (
	"fmt"
	"math/big"
)

// Measured reports whether costs and memory of the layers of Model are those of Profile
// instead of what formulas say. Then Cluster has the links of the profile, and a rate of
// an operation per nanosecond.
func (c *Config) Measured() bool { return c.Model != nil && c.Profile != nil }

// readMeasured checks that a profile can be that of the model's layers.
func (d *decoder) readMeasured() bool {
	p := d.measured
	layers, link, size := p.root.get("layers"), p.root.get("link"), p.root.get("micro_batch_size")
	switch {
	case p.result.Layers == nil:
		layers.failMissing("a model needs the costs of layers: measure them, or give a cluster instead of the profile")
	case p.result.Link == nil:
		link.failMissing(`a model needs the cost of a transfer: write it, such as {"latency": 30, "bandwidth": 5e9}`)
	case p.result.Unit == Tick:
		p.root.get("unit").fail("a model takes physical time, not ticks", "measure in ns, us, ms or s")
	case size.absent():
		size.failMissing("write the samples of a micro-batch that the layers were measured with")
	case p.result.MicroBatchSize != d.config.Model.MicroBatchSize:
		d.root.at("model.micro_batch_size").fail(
			fmt.Sprintf("%s in a micro-batch, but the profile measured layers with %d", plural(d.config.Model.MicroBatchSize, "sample"), p.result.MicroBatchSize),
			fmt.Sprintf("write %d, or measure again", p.result.MicroBatchSize))
	case d.config.Model.VocabularySharding.Shared():
		d.root.at("model.vocabulary_sharding").fail("layers that all devices share were not measured", "write none, or give a cluster instead of the profile")
	default:
		return true
	}
	return false
}

// setMeasuredCluster sets what devices and links of a profile can do, with latency in the
// unit of the configuration. A profile that is refused has none.
func (d *decoder) setMeasuredCluster() {
	if d.measured == nil || d.measured.result.Link == nil || d.measured.result.Unit == Tick || d.config.Unit == Tick {
		return
	}
	link := d.measured.result.Link
	cluster := &Cluster{
		FLOPS: power10(9), Efficiency: NewDecimal(1),
		LinkLatency: link.Latency.convert(d.measured.result.Unit, d.config.Unit),
	}
	if link.Bandwidth != nil {
		cluster.LinkBandwidth = *link.Bandwidth
	}
	cluster.NodeBandwidth = cluster.LinkBandwidth
	d.config.Cluster = cluster
}

// Nanoseconds returns the median of a measurement in the profile, 0 for nil. The unit of
// the profile must not be a tick.
func (p *Profile) Nanoseconds(m *Measurement) float64 {
	if m == nil {
		return 0
	}
	second, _ := p.Unit.Seconds()
	ns := m.Median.Mul(second).Rat()
	value, _ := ns.Mul(ns, big.NewRat(1e9, 1)).Float64()
	return value
}
