package cssr

import "slices"

// replicas returns the devices of each replica of a stage, one for each route.
func (l *layout) replicas(stage int) [][]int { return [][]int{l.devices[stage]} }

// everyDevice returns each device that holds a replica of a stage, ascending.
func (l *layout) everyDevice(stage int) []int {
	devices := slices.Concat(l.replicas(stage)...)
	slices.Sort(devices)
	return slices.Compact(devices)
}
