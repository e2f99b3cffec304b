package config

import "fmt"

// Transfer modes of the key communication.mode.
const (
	overlappedTransfers = "overlapped"
	blockingTransfers   = "blocking"
)

// readCommunication reads latencies and the mode of transfers. A profile or a model
// may give latencies too; what the configuration says about a link comes first.
func (d *decoder) readCommunication() {
	v := d.root.get("communication")
	if v.absent() || !v.mapping("write keys such as latency below it") {
		return
	}
	if latency := v.get("latency"); !latency.absent() {
		d.readLatency(latency)
	}
	if links := v.get("links"); !links.absent() {
		d.readLinks(links)
	}
	if mode := v.get("mode"); !mode.absent() {
		chosen, _ := word(mode, overlappedTransfers, blockingTransfers)
		d.config.Communication.Blocking = chosen == blockingTransfers
	}
}

// readLatency reads the latency that holds for all pairs of devices.
func (d *decoder) readLatency(v value) {
	switch {
	case d.measured != nil:
		v.fail("the link of the profile gives the latency already", "leave it out, or give links")
	case d.config.Model != nil:
		v.fail("the cluster gives the latency already", "keep cluster.link_latency")
	case d.config.Communication.EdgeLatency != nil:
		v.fail("the profile gives the latency already", "leave it out, or give links")
	default:
		d.config.Communication.Latency, _ = d.duration(v)
	}
}

// readLinks reads the latencies of single pairs of devices.
func (d *decoder) readLinks(v value) {
	items, ok := v.items("write a list such as [{from: 0, to: 1, latency: 2}]")
	if !ok {
		return
	}
	first := map[[2]int]value{}
	for _, item := range items {
		link, ok := d.readLink(item)
		if !ok {
			return
		}
		pair := [2]int{link.From, link.To}
		if earlier, seen := first[pair]; seen {
			item.fail(fmt.Sprintf("the link from %d to %d stands in %s already", link.From, link.To, earlier.path), "list it once")
			return
		}
		first[pair] = item
		d.config.Communication.Links = append(d.config.Communication.Links, link)
	}
}

// readLink reads the latency of one pair of devices.
func (d *decoder) readLink(v value) (link Link, ok bool) {
	if !v.mapping("write a mapping such as {from: 0, to: 1, latency: 2}") {
		return Link{}, false
	}
	from, to, latency := v.get("from"), v.get("to"), v.get("latency")
	for _, end := range []value{from, to, latency} {
		if end.absent() {
			end.failMissing("write a link such as {from: 0, to: 1, latency: 2}")
			return Link{}, false
		}
	}
	link.From, ok = from.index(len(d.config.Devices), "device")
	if !ok {
		return Link{}, false
	}
	if link.To, ok = to.index(len(d.config.Devices), "device"); !ok {
		return Link{}, false
	}
	if link.From == link.To {
		v.fail(fmt.Sprintf("a link from device %d to itself", link.From), "leave it out: within a device the latency is 0")
		return Link{}, false
	}
	link.Latency, ok = d.duration(latency)
	return link, ok
}
