package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// waitReader reads what operations wait for.
type waitReader struct {
	d     *decoder
	list  []Operation
	names []string                // of all kinds that can be waited for
	at    map[string]map[int]bool // the stages of each kind of the configuration's own; -1 is none
	left  int                     // further waits that there may be
}

// waitKinds are the standard kinds that an operation can wait for.
var waitKinds = []string{"forward", "backward_input", "backward_weight", "backward_full", "backward"}

// readWaits reads what each operation waits for, and what waits for it.
func (d *decoder) readWaits(items []value, list []Operation) bool {
	r := waitReader{d: d, list: list, names: slices.Clone(waitKinds), at: map[string]map[int]bool{}, left: MaxWaits}
	for i := range list {
		o := &list[i]
		if r.at[o.Name] == nil {
			r.at[o.Name] = map[int]bool{}
			r.names = append(r.names, o.Name)
		}
		if o.Stages == nil {
			r.at[o.Name][-1] = true
		}
		for _, stage := range o.Stages {
			r.at[o.Name][stage] = true
		}
	}
	for i, item := range items {
		var ok bool
		if list[i].After, ok = r.readList(item.get("after"), &list[i]); !ok {
			return false
		}
		if list[i].Before, ok = r.readList(item.get("before"), &list[i]); !ok {
			return false
		}
	}
	return true
}

// readList reads one wait, or a list of them.
func (r *waitReader) readList(v value, o *Operation) (waits []Wait, ok bool) {
	if v.absent() {
		return nil, true
	}
	entries := []value{v}
	if v.listed() {
		entries, _ = v.items("")
	}
	for _, entry := range entries {
		wait, ok := r.read(entry, o)
		if !ok {
			return nil, false
		}
		waits = append(waits, wait)
	}
	return waits, true
}

// read reads one wait: a kind, or a mapping with a kind.
func (r *waitReader) read(v value, o *Operation) (w Wait, ok bool) {
	kind, stage, lag := v, v.get("stage"), v.get("lag")
	if v.node.Kind == yaml.MappingNode {
		if kind = v.get("kind"); kind.absent() {
			kind.failMissing("write a wait such as {kind: forward, stage: 3, lag: 1}")
			return Wait{}, false
		}
	}
	if w.Kind, ok = word(kind, r.names...); !ok {
		return Wait{}, false
	}
	if !lag.absent() {
		if w.Lag, ok = r.d.duration(lag); !ok {
			return Wait{}, false
		}
	}
	switch {
	case !stage.missing:
		ok = r.readStage(stage, &w)
	case v.doc.misspelt[v.node]:
		return Wait{}, false
	default:
		w.Stages, ok = r.defaultStage(kind, w.Kind, o)
	}
	return w, ok && r.check(v, w, o) && r.count(v, w, o)
}

// defaultStage returns the stage of a kind without one: that of the operation, or
// none for a kind that has no stages.
func (r *waitReader) defaultStage(v value, kind string, o *Operation) (Where, bool) {
	stages, own := r.at[kind]
	without := own && stages[-1]
	switch {
	case without && (o.Stages == nil || len(stages) == 1):
		return NoStage, true
	case o.Stages == nil:
		v.fail("the operation has no stage, so it is not known which "+kind+" is meant", "write {kind: "+kind+", stage: all}, or the number of a stage")
		return "", false
	}
	return SameStage, true
}

// readStage reads the stage of a wait.
func (r *waitReader) readStage(v value, w *Wait) (ok bool) {
	if n, number := v.integer(); number {
		w.Stages = AtStage
		w.Stage, ok = v.index(r.d.config.Stages, "stage")
		return ok && n >= 0
	}
	if v.none() {
		w.Stages = NoStage
		return true
	}
	w.Stages, ok = word(v, SameStage, NextStages, PreviousStages, AllStages, NoStage)
	return ok
}

// check fails for a wait whose operation cannot exist. Whether a stage has a kind of
// backward depends on how it runs it, which is not decided here.
func (r *waitReader) check(v value, w Wait, o *Operation) bool {
	stages, own := r.at[w.Kind]
	missing := func(where string) bool {
		v.fail("there is no "+w.Kind+" "+where, "name one of the stages of "+w.Kind+", or give it that stage")
		return false
	}
	switch {
	case w.Stages == NoStage && !stages[-1]:
		v.fail("there is no "+w.Kind+" beside no stage", "leave the stage out, or write a number, next, previous or all")
		return false
	case o.Stages == nil && (w.Stages == SameStage || w.Stages == NextStages || w.Stages == PreviousStages):
		v.fail("the operation has no stage, so none is "+string(w.Stages), "write the number of a stage, or all")
		return false
	case own && w.Stages == AtStage && !stages[w.Stage]:
		return missing(fmt.Sprintf("of stage %d", w.Stage))
	case own && w.Stages == AllStages && len(stages) == 1 && stages[-1]:
		v.fail(w.Kind+" is beside no stage", "leave the stage out")
		return false
	case own && w.Stages == SameStage:
		for _, stage := range o.Stages {
			if !stages[stage] {
				return missing(fmt.Sprintf("of stage %d", stage))
			}
		}
	}
	return true
}

// count fails when the waits are too many to hold.
func (r *waitReader) count(v value, w Wait, o *Operation) bool {
	targets := 1
	if w.Stages == AllStages {
		targets = r.d.config.Stages
	}
	if r.left -= targets * o.count(); r.left < 0 {
		v.fail(fmt.Sprintf("more than %d pairs of operations that wait for each other", MaxWaits), "wait for an operation beside no stage, which waits for all")
		return false
	}
	return true
}
