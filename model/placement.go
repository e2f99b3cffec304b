package model

import "fmt"

// A placement lists, stage by stage, the devices that hold the stage: one, or
// several that form a gang. The functions below build the named placements.

// LinearPlacement puts stage s on device s. It needs stages = devices.
func LinearPlacement(stages, devices int) ([][]int, error) {
	if stages != devices {
		return nil, fmt.Errorf("placement linear needs as many stages as devices, not %d stages on %d devices; use loop, v or a list", stages, devices)
	}
	return LoopPlacement(stages, devices), nil
}

// LoopPlacement puts stage s on device s mod devices.
func LoopPlacement(stages, devices int) [][]int {
	place := make([][]int, stages)
	for s := range place {
		place[s] = []int{s % devices}
	}
	return place
}

// VPlacement runs through the devices forward and backward in turn:
// 0..P-1, P-1..0, 0..P-1, ... It needs a whole number of runs.
func VPlacement(stages, devices int) ([][]int, error) {
	if stages%devices != 0 {
		return nil, fmt.Errorf("placement v needs stages to be a multiple of the devices, not %d stages on %d devices; use loop or a list", stages, devices)
	}
	place := make([][]int, stages)
	for s := range place {
		d := s % devices
		if s/devices%2 == 1 {
			d = devices - 1 - d
		}
		place[s] = []int{d}
	}
	return place, nil
}
