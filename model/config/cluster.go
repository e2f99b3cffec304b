package config

// readCluster reads the hardware under a model.
func (d *decoder) readCluster() {
	v := d.root.get("cluster")
	if d.config.Model == nil {
		return
	}
	if profile := d.root.get("profile"); !profile.absent() {
		if !v.absent() {
			v.fail("the profile says what layers and transfers take", "leave it out, or leave profile out to work costs out from the cluster")
		}
		d.setMeasuredCluster()
		return
	}
	if v.absent() {
		v.failMissing("a model needs one: write a mapping such as {flops: 312e12, link_bandwidth: 25e9}")
		return
	}
	if !v.mapping("write a mapping such as {flops: 312e12, link_bandwidth: 25e9}") {
		return
	}
	cluster := &Cluster{Efficiency: NewDecimal(1)}
	cluster.FLOPS = requiredRate(v.get("flops"), "write the peak FLOP/s of a device such as 312e12")
	cluster.LinkBandwidth = requiredRate(v.get("link_bandwidth"), "write the bytes/s between two devices such as 25e9")
	if latency := v.get("link_latency"); !latency.absent() {
		cluster.LinkLatency, _ = d.duration(latency)
	}
	cluster.readEfficiency(v.get("efficiency"))
	cluster.readNodes(v)
	d.config.Cluster = cluster
}

// requiredRate reads a positive rate that must be given.
func requiredRate(v value, remedy string) Decimal {
	if v.absent() {
		v.failMissing(remedy)
		return Decimal{}
	}
	rate, _ := v.positive()
	return rate
}

// readEfficiency reads the share of the peak rate that is reached.
func (c *Cluster) readEfficiency(v value) {
	if v.absent() {
		return
	}
	share, ok := v.positive()
	if ok && share.Cmp(NewDecimal(1)) > 0 {
		v.fail(describe(v.node)+" is above 1", "write the share of flops that is reached such as 0.45")
	}
	c.Efficiency = share
}

// readNodes reads how devices are grouped into nodes.
func (c *Cluster) readNodes(v value) {
	size, bandwidth := v.get("devices_per_node"), v.get("node_bandwidth")
	if !size.absent() {
		c.DevicesPerNode, _ = size.whole(1, MaxDevices)
	}
	c.NodeBandwidth = c.LinkBandwidth
	if bandwidth.absent() {
		return
	}
	if size.absent() {
		bandwidth.fail("devices_per_node is not given, so there is one node", "give devices_per_node, or leave it out")
		return
	}
	c.NodeBandwidth, _ = bandwidth.positive()
}
