package cssr

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model/config"
)

// engine is what works beside a device under a name, or for the whole pipeline.
type engine struct {
	name   string
	device int // -1: of the whole pipeline
}

// engines are the engines of a configuration, which follow its devices.
type engines struct {
	names []string // of the devices that they become
	index map[engine]int
}

// newEngines lists the engines that operations name: a name after the other as the
// configuration first uses them, each beside its devices in ascending order.
func newEngines(cfg *config.Config, l *layout) *engines {
	beside, order := map[string][]int{}, []engine{}
	for i := range cfg.Operations {
		o := &cfg.Operations[i]
		switch {
		case o.Link != "":
			order = append(order, engine{o.Link, -1})
		case o.Engine != "":
			order = append(order, engine{o.Engine, 0})
			for nth := range o.Stages {
				for _, stage := range l.stagesBeside(o, nth) {
					beside[o.Engine] = append(beside[o.Engine], l.everyDevice(stage)...)
				}
			}
		}
	}
	e := &engines{index: map[engine]int{}}
	for _, first := range order {
		if first.device < 0 {
			e.add(cfg, first, first.name)
			continue
		}
		slices.Sort(beside[first.name])
		for _, device := range beside[first.name] {
			e.add(cfg, engine{first.name, device}, fmt.Sprintf("%s %d", first.name, device))
		}
	}
	return e
}

// add adds an engine unless it is known.
func (e *engines) add(cfg *config.Config, which engine, name string) {
	if _, known := e.index[which]; !known {
		e.index[which] = len(cfg.Devices) + len(e.names)
		e.names = append(e.names, name)
	}
}

// of returns the devices and engines that an operation beside a stage occupies; nil
// are the devices of the stage.
func (e *engines) of(o *config.Operation, stage int, l *layout) []int {
	switch {
	case o.Link != "":
		return []int{e.index[engine{o.Link, -1}]}
	case o.Engine != "":
		var list []int
		for _, device := range l.everyDevice(stage) {
			list = append(list, e.index[engine{o.Engine, device}])
		}
		return list
	}
	return slices.Clone(o.Devices)
}
