package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// readPlacement reads the placement, or one for each route.
func (d *decoder) readPlacement() {
	if routes := d.root.get("routes"); !routes.absent() {
		d.readRoutes(routes)
		return
	}
	v := d.root.get("placement")
	placement, ok := d.readPlacementOf(v)
	if !ok {
		return
	}
	d.config.Placement = placement
	d.warnIdleDevices(v)
}

// readPlacementOf reads one placement. It defaults to linear when there are as many
// stages as devices, else to loop.
func (d *decoder) readPlacementOf(v value) (Placement, bool) {
	switch {
	case v.listed():
		return d.readPlacementList(v)
	case !v.absent():
		rule, ok := word(v, Linear, Loop, Vee)
		if !ok || !d.placementFits(v, rule) {
			return Placement{}, false
		}
		return d.place(rule), true
	case d.config.Stages == len(d.config.Devices):
		return d.place(Linear), true
	}
	return d.place(Loop), true
}

// placementFits fails when the numbers of stages and devices do not allow the rule.
func (d *decoder) placementFits(v value, rule PlacementRule) bool {
	stages, devices := d.config.Stages, len(d.config.Devices)
	counts := plural(stages, "stage") + " on " + plural(devices, "device")
	switch {
	case rule == Linear && stages != devices:
		v.fail("linear needs as many stages as devices, not "+counts, "use placement: loop, or change stages or devices")
		return false
	case rule == Vee && stages%devices != 0:
		v.fail("v needs a multiple of the number of devices as stages, not "+counts, "use placement: loop, or change stages or devices")
		return false
	}
	return true
}

// place lays the stages out by a rule.
func (d *decoder) place(rule PlacementRule) Placement {
	devices := len(d.config.Devices)
	placement := Placement{Rule: rule, Devices: make([][]int, d.config.Stages)}
	for stage := range placement.Devices {
		device := stage % devices
		if rule == Vee && stage/devices%2 == 1 {
			device = devices - 1 - device
		}
		placement.Devices[stage] = []int{device}
	}
	return placement
}

// readPlacementList reads a device, or a gang of devices, per stage.
func (d *decoder) readPlacementList(v value) (placement Placement, ok bool) {
	if !v.ofLength(d.config.Stages, "stage placement", "give one device or gang per stage") {
		return Placement{}, false
	}
	placement = Placement{Rule: Listed, Devices: make([][]int, d.config.Stages)}
	for stage := range placement.Devices {
		if placement.Devices[stage], ok = d.readGang(v.item(stage)); !ok {
			return Placement{}, false
		}
	}
	return placement, true
}

// readGang reads the devices of one stage and returns them in ascending order.
func (d *decoder) readGang(v value) (gang []int, ok bool) {
	if !v.listed() {
		device, ok := v.index(len(d.config.Devices), "device")
		return []int{device}, ok
	}
	items, _ := v.items("")
	if len(items) == 0 {
		v.fail("a stage without a device", "list the devices of the stage")
		return nil, false
	}
	for _, item := range items {
		device, ok := item.index(len(d.config.Devices), "device")
		if !ok {
			return nil, false
		}
		gang = append(gang, device)
	}
	slices.Sort(gang)
	for i, device := range gang[1:] {
		if gang[i] == device {
			v.fail(fmt.Sprintf("device %d twice in one gang", device), "list each device once")
			return nil, false
		}
	}
	return gang, true
}

// maxNamed is how many devices or stages a message names.
const maxNamed = 8

// warnIdleDevices remarks on devices without a stage. Where all devices share the
// vocabulary there are none.
func (d *decoder) warnIdleDevices(v value) {
	if d.config.Model != nil && d.config.Model.VocabularySharding == VocabularyStage {
		return
	}
	used := make([]bool, len(d.config.Devices))
	for _, placement := range append([]Placement{d.config.Placement}, d.config.Routes...) {
		for _, device := range slices.Concat(placement.Devices...) {
			used[device] = true
		}
	}
	var idle []string
	for device, has := range used {
		if !has {
			idle = append(idle, strconv.Itoa(device))
		}
	}
	switch more := len(idle) - maxNamed; {
	case len(idle) == 0:
	case len(idle) == 1:
		d.warn(v, "device "+idle[0]+" has no stage")
	case more > 0:
		d.warn(v, fmt.Sprintf("devices %s and %d more have no stage", strings.Join(idle[:maxNamed], ", "), more))
	default:
		d.warn(v, "devices "+strings.Join(idle, ", ")+" have no stage")
	}
}

// warn records a remark on v.
func (d *decoder) warn(v value, text string) {
	d.config.Warnings = append(d.config.Warnings, Warning{Line: v.node.Line, Column: v.node.Column, Key: v.path, Text: text})
}
