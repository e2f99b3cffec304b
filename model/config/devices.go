package config

import "strconv"

// readDevices reads the devices: a count, or a list that describes each.
func (d *decoder) readDevices() bool {
	v := d.root.get("devices")
	if v.absent() {
		v.failMissing("write how many devices there are, such as devices: 4")
		return false
	}
	if v.listed() {
		return d.readDeviceList(v)
	}
	count, ok := v.whole(1, MaxDevices)
	if !ok {
		return false
	}
	d.config.Devices = make([]Device, count)
	for i := range d.config.Devices {
		d.config.Devices[i].Slowdown = NewDecimal(1)
	}
	return true
}

// readDeviceList reads a list of devices. It stops at the first that cannot be read.
func (d *decoder) readDeviceList(v value) bool {
	items, _ := v.items("")
	if len(items) == 0 || len(items) > MaxDevices {
		v.fail(plural(len(items), "device")+" in the list", "list 1 to "+strconv.Itoa(MaxDevices)+" devices")
		return false
	}
	d.config.Devices = make([]Device, len(items))
	for i, item := range items {
		var ok bool
		if d.config.Devices[i], ok = d.readDevice(item); !ok {
			return false
		}
	}
	return true
}

// readDevice reads one device.
func (d *decoder) readDevice(v value) (device Device, ok bool) {
	if !v.mapping("write a mapping such as {memory_limit: 80GB}, or {}") {
		return Device{}, false
	}
	ok = true
	device.Slowdown = NewDecimal(1)
	if name := v.get("name"); !name.absent() {
		device.Name, ok = name.text()
	}
	if slowdown := v.get("slowdown"); !slowdown.absent() {
		factor, read := slowdown.positive()
		device.Slowdown, ok = factor, ok && read
	}
	if limit := v.get("memory_limit"); !limit.absent() {
		size, read := d.size(limit)
		device.Limit, ok = &size, ok && read
	}
	return device, ok
}

// size reads a size that is not negative, and notes whether it is in bytes.
func (d *decoder) size(v value) (Decimal, bool) { return v.notNegative(d.signedSize(v)) }

// signedSize reads a size of either sign, and notes whether it is in bytes.
func (d *decoder) signedSize(v value) (Decimal, bool) {
	size, inBytes, ok := v.signedSize()
	d.config.SizesInBytes = d.config.SizesInBytes || inBytes
	if ok && !inBytes && d.bareSize == nil && isFewBytes(size) {
		d.bareSize = &v
	}
	return size, ok
}

// isFewBytes reports whether a bare size hardly means bytes: it is below 1 MiB.
func isFewBytes(size Decimal) bool {
	const few = 1 << 20
	return size.Sign() != 0 && size.Cmp(NewDecimal(few)) < 0 && size.Cmp(NewDecimal(-few)) > 0
}
