package config

import (
	"fmt"
	"strconv"
)

// stageKeys are the keys whose value may be a list with one entry per stage.
var stageKeys = []string{
	"placement", "routes[0]", "backward", "partition", "recompute",
	"costs.forward", "costs.backward_input", "costs.backward_weight", "costs.backward_full", "costs.overlapped",
	"memory.activation", "memory.freed_by_backward_input", "memory.freed_by_backward_weight", "memory.static",
}

// readStages determines the number of stages: what `stages` says, else the length of
// the lists that have one entry per stage, else the number of devices, or of the parts of
// the network if there are more.
func (d *decoder) readStages() bool { return d.countStages() && d.partsFit() }

// countStages is readStages without a look at the network.
func (d *decoder) countStages() bool {
	v := d.root.get("stages")
	if !v.absent() {
		var ok bool
		d.config.Stages, ok = v.whole(1, MaxStages)
		return ok && d.profileFits()
	}
	lists := d.stageLists()
	if len(lists) == 0 {
		d.config.Stages = max(len(d.config.Devices), d.parts())
		return true
	}
	for _, other := range lists[1:] {
		if len(other.node.Content) != len(lists[0].node.Content) {
			other.fail(fmt.Sprintf("%s here, but %d in %s", plural(len(other.node.Content), "value"), len(lists[0].node.Content), d.listName(lists[0])),
				"give each list one value per stage")
			return false
		}
	}
	d.config.Stages = len(lists[0].node.Content)
	if d.config.Stages < 1 || d.config.Stages > MaxStages {
		lists[0].fail("a list for "+plural(d.config.Stages, "stage"), "give 1 to "+strconv.Itoa(MaxStages)+" stages")
		return false
	}
	return true
}

// parts returns the number of parts of the network, 0 without one.
func (d *decoder) parts() int {
	if d.config.Model == nil {
		return 0
	}
	return len(d.config.Model.Parts)
}

// partsFit fails when there are fewer stages than parts of the network.
func (d *decoder) partsFit() bool {
	if d.config.Stages >= d.parts() {
		return true
	}
	v := d.root.get("stages")
	if lists := d.stageLists(); v.absent() {
		v = lists[0]
	}
	v.fail(fmt.Sprintf("%s for a network of %s, of which no stage holds two", plural(d.config.Stages, "stage"), plural(d.parts(), "part")),
		fmt.Sprintf("use at least %d stages", d.parts()))
	return false
}

// stageLists returns the lists of the document that have one entry per stage.
func (d *decoder) stageLists() []value {
	var lists []value
	if d.profile != nil {
		lists = append(lists, d.profile.root.get("stages"))
	}
	for _, path := range stageKeys {
		if v := d.root.at(path); v.listed() {
			lists = append(lists, v)
		}
	}
	return lists
}

// listName names a list with one entry per stage in a message.
func (d *decoder) listName(v value) string {
	if v.doc != d.root.doc {
		return "the profile"
	}
	return v.path
}

// profileFits fails when the profile, if any, is not one of as many stages.
func (d *decoder) profileFits() bool {
	if d.profile == nil {
		return true
	}
	return d.profile.root.get("stages").ofLength(d.config.Stages, "stage profile", "measure the stages again, or change stages in the configuration")
}
