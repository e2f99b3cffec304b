package cssr

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model/config"
)

// replicas returns the devices of each replica of a stage, one for each route.
func (l *layout) replicas(stage int) [][]int {
	list := [][]int{l.devices[stage]}
	for _, devices := range l.further {
		list = append(list, devices[stage])
	}
	return list
}

// everyDevice returns each device that holds a replica of a stage, ascending.
func (l *layout) everyDevice(stage int) []int {
	devices := slices.Concat(l.replicas(stage)...)
	slices.Sort(devices)
	return slices.Compact(devices)
}

// routes returns the devices of the chunks on each route, given those on the first,
// and sets the route of each micro-batch.
func (l *layout) routes(cfg *config.Config, choices Choices, first [][]int) ([][][]int, error) {
	routes := [][][]int{first}
	if choices.Bidirectional {
		reverse, err := l.reverse(cfg, first)
		return append(routes, reverse), err
	}
	if len(cfg.Routes) < 2 {
		return routes, nil
	}
	for _, route := range cfg.Routes[1:] {
		devices, err := layOut(route, len(first), len(cfg.Devices))
		if err != nil {
			return nil, err
		}
		routes = append(routes, devices)
	}
	l.routeOf = slices.Clone(cfg.RouteOf)
	return routes, nil
}

// reverse returns a route over the devices in reverse, for the second half of the
// micro-batches.
func (l *layout) reverse(cfg *config.Config, first [][]int) ([][]int, error) {
	refuse := func(problem, remedy string, keys ...string) ([][]int, error) {
		return nil, (&ChoiceError{"bidirectional", problem, remedy}).at(cfg.Locate(keys...))
	}
	switch {
	case len(cfg.Routes) > 0:
		return refuse("the configuration has routes already", "leave the routes out", "routes")
	case cfg.MicroBatches < 2:
		return refuse("each route needs a micro-batch, and there is only one", "use two micro-batches or more", "micro_batches", "global_batch")
	}
	last := len(cfg.Devices) - 1
	reverse := make([][]int, len(first))
	for s, gang := range first {
		if len(gang) > 1 {
			origin := s / l.chunks
			return refuse(fmt.Sprintf("stage %d sits on a gang of %d devices", origin, len(gang)), "place each stage on one device", fmt.Sprintf("placement[%d]", origin))
		}
		reverse[s] = []int{last - gang[0]}
	}
	l.routeOf = make([]int, cfg.MicroBatches)
	for m := range l.routeOf {
		l.routeOf[m] = m * 2 / cfg.MicroBatches
	}
	return reverse, nil
}
