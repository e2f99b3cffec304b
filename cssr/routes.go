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

// addRoutes lays the stages out for each route beyond the first.
func (l *layout) addRoutes(cfg *config.Config, choices Choices) error {
	if choices.Bidirectional {
		return l.addReverse(cfg)
	}
	if len(cfg.Routes) < 2 {
		return nil
	}
	for _, route := range cfg.Routes[1:] {
		devices, err := layOut(route, l.stages(), len(cfg.Devices))
		if err != nil {
			return err
		}
		l.further = append(l.further, devices)
	}
	l.routeOf = slices.Clone(cfg.RouteOf)
	return nil
}

// addReverse adds a route over the devices in reverse for the second half of the
// micro-batches.
func (l *layout) addReverse(cfg *config.Config) error {
	refuse := func(problem, remedy string, keys ...string) error {
		return (&ChoiceError{"bidirectional", problem, remedy}).at(cfg.Locate(keys...))
	}
	switch {
	case len(cfg.Routes) > 0:
		return refuse("the configuration has routes already", "leave the routes out", "routes")
	case cfg.MicroBatches < 2:
		return refuse("each route needs a micro-batch, and there is only one", "use two micro-batches or more", "micro_batches", "global_batch")
	}
	last := len(cfg.Devices) - 1
	reverse := make([][]int, l.stages())
	for s, gang := range l.devices {
		if len(gang) > 1 {
			origin := l.origin(s)
			return refuse(fmt.Sprintf("stage %d sits on a gang of %d devices", origin, len(gang)), "place each stage on one device", fmt.Sprintf("placement[%d]", origin))
		}
		reverse[s] = []int{last - gang[0]}
	}
	l.further = [][][]int{reverse}
	l.routeOf = make([]int, cfg.MicroBatches)
	for m := range l.routeOf {
		l.routeOf[m] = m * 2 / cfg.MicroBatches
	}
	return nil
}
