package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// Operation is a further operation of the configuration's own: one beside each of
// some stages, or one beside none. See [model.Operation] for what it becomes.
//
// Below, n is the number of its stages, 1 without stages.
type Operation struct {
	Name   string // of its kind: lower-case letters, digits and _
	Letter string // of its kind in text forms: capitals and _

	Stages []int // beside which it runs, one operation each, no stage twice; nil: beside none
	Once   bool  // for the iteration, instead of for each micro-batch

	// What it occupies is given by at most one of Devices, Engine and Link; without
	// them it is the devices of the stage.
	Devices []int  // in ascending order
	Engine  string // an engine of that name beside each device of the stage
	Link    string // one engine of that name for the whole pipeline

	// Duration holds n durations for a micro-batch of factor 1, on devices of
	// slowdown 1. Micro-batch factors scale them unless Fixed or Once.
	Duration []Decimal
	Fixed    bool

	After, Before []Wait

	Takes, Gives []Decimal // n sizes: taken at the start, given back at the end; not negative
}

// Wait names operations that one waits for, or that wait for it.
type Wait struct {
	Kind   string // see [model.Ref]
	Stages Where
	Stage  int     // with AtStage
	Lag    Decimal // from the end of the one to the start of the other
}

// Where says beside which stages the operations of a [Wait] run.
type Where string

// The stages of a Wait.
const (
	SameStage      Where = "same"     // that of the operation
	NextStages     Where = "next"     // those that consume what the operation's stage produces
	PreviousStages Where = "previous" // those that produce what it consumes
	AllStages      Where = "all"      // all that have such an operation
	NoStage        Where = "none"     // the operation of that name beside no stage
	AtStage        Where = "number"   // the stage Wait.Stage
)

// Upper limits on operations of one's own, counted once for each of their stages.
const (
	// MaxOwnOperations is the largest number of them.
	MaxOwnOperations = 1 << 16
	// MaxWaits bounds the pairs of operations, at one micro-batch, of which the one
	// waits for the other.
	MaxWaits = 1 << 20
)

// count returns how many operations there are for a micro-batch.
func (o *Operation) count() int { return max(1, len(o.Stages)) }

// takes reports whether the operation takes any memory.
func (o *Operation) takes() bool {
	return slices.ContainsFunc(o.Takes, func(size Decimal) bool { return size.Sign() > 0 })
}

// readOperations reads the operations of the configuration's own. What they wait
// for is read once the names of all of them are known.
func (d *decoder) readOperations() {
	v := d.root.get("operations")
	if v.absent() {
		return
	}
	items, ok := v.items("write a list such as [{name: step, devices: all, once: true, duration: 2}]")
	if !ok {
		return
	}
	list := make([]Operation, len(items))
	for i, item := range items {
		read := false
		list[i], read = d.readOperation(item)
		ok = ok && read
	}
	if ok && settleLetters(items, list) && checkUnique(items, list) && d.checkCount(v, list) && d.readWaits(items, list) {
		d.config.Operations = list
	}
}

// readOperation reads one operation, but not what it waits for.
func (d *decoder) readOperation(v value) (o Operation, ok bool) {
	if !v.mapping("write a mapping such as {name: step, devices: all, once: true, duration: 2}") {
		return Operation{}, false
	}
	ok = readOperationName(v.get("name"), &o.Name)
	ok = readLetter(v.get("letter"), &o.Letter) && ok
	ok = readFlag(v.get("once"), &o.Once) && ok
	ok = readFlag(v.get("fixed"), &o.Fixed) && ok
	if !d.readOperationStages(v.get("stages"), &o) || !d.readOccupied(v, &o) {
		return Operation{}, false
	}
	return o, d.readAmounts(v, &o) && ok
}

// readFlag reads true or false, if it is given.
func readFlag(v value, set *bool) (ok bool) {
	if v.absent() {
		return true
	}
	*set, ok = v.flag()
	return ok
}

// readOperationName reads the name of a kind.
func readOperationName(v value, name *string) bool {
	const remedy = "write a name of lower-case letters, digits and _ such as all_reduce"
	if v.absent() {
		v.failMissing(remedy)
		return false
	}
	text, ok := v.text()
	if !ok {
		return false
	}
	switch {
	case text == "" || text[0] < 'a' || text[0] > 'z' || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_") != "":
		v.fail(describe(v.node)+" is not the name of a kind", remedy)
		return false
	case strings.HasSuffix(text, "_alloc") || strings.HasSuffix(text, "_free"):
		v.fail("names that end in _alloc or _free are those of taking and giving back memory", "choose another name")
		return false
	case slices.Contains(standardKinds(), text):
		v.fail(text+" is a kind that every configuration has", "choose another name")
		return false
	}
	*name = text
	return true
}

// standardKinds returns the names of the kinds that need no operation of one's own.
func standardKinds() []string {
	names := []string{model.Backward}
	for _, kind := range model.StandardKinds() {
		names = append(names, kind.Name)
	}
	return names
}

// readLetter reads the text form of a kind, if it is given.
func readLetter(v value, letter *string) bool {
	if v.absent() {
		return true
	}
	text, ok := v.text()
	if !ok {
		return false
	}
	if text == "" || strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" ||
		strings.HasSuffix(text, "_ALLOC") || strings.HasSuffix(text, "_FREE") {
		v.fail(describe(v.node)+" is not a letter for text forms", "write capitals and _ such as R or REDUCE, not ending in _ALLOC or _FREE")
		return false
	}
	*letter = text
	return true
}

// settleLetters fills in the letters that are left out: that of the same kind before,
// or the name in capitals without its digits. It fails where two kinds have the same.
func settleLetters(items []value, list []Operation) bool {
	kinds, letters := map[string]string{}, map[string]string{}
	for _, kind := range model.StandardKinds() {
		kinds[kind.Letter] = kind.Name
	}
	for i := range list {
		o, at := &list[i], items[i].get("letter")
		earlier, known := letters[o.Name]
		if o.Letter == "" {
			if o.Letter = earlier; !known {
				o.Letter = strings.ToUpper(strings.Map(withoutDigits, o.Name))
			}
		}
		switch kind, used := kinds[o.Letter]; {
		case used && kind != o.Name:
			at.fail(fmt.Sprintf("%s would be written %s, as %s is", o.Name, o.Letter, kind), "give it a letter of its own, such as letter: "+strings.ToUpper(o.Name[:1])+"X")
			return false
		case known && earlier != o.Letter:
			at.fail(fmt.Sprintf("%s is written %s before", o.Name, earlier), "give a kind one letter, or another name")
			return false
		}
		kinds[o.Letter], letters[o.Name] = o.Name, o.Letter
	}
	return true
}

func withoutDigits(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}

// readOperationStages reads beside which stages an operation runs.
func (d *decoder) readOperationStages(v value, o *Operation) bool {
	if v.absent() {
		return true
	}
	if text, plain := v.plain(); plain && text == "all" {
		o.Stages = make([]int, d.config.Stages)
		for s := range o.Stages {
			o.Stages[s] = s
		}
		return true
	}
	entries := []value{v}
	if v.listed() {
		entries, _ = v.items("")
	}
	seen := make(map[int]bool, len(entries))
	for _, entry := range entries {
		stage, ok := entry.index(d.config.Stages, "stage")
		if !ok {
			return false
		}
		if seen[stage] {
			entry.fail(fmt.Sprintf("stage %d twice", stage), "list each stage once")
			return false
		}
		seen[stage] = true
		o.Stages = append(o.Stages, stage)
	}
	if len(entries) == 0 {
		v.fail("an empty list", "list stages, write all, or leave it out for an operation beside no stage")
	}
	return len(entries) > 0
}

// readOccupied reads what an operation occupies.
func (d *decoder) readOccupied(v value, o *Operation) bool {
	var given []value
	for _, key := range []string{"devices", "engine", "link"} {
		if part := v.get(key); !part.absent() {
			given = append(given, part)
		}
	}
	switch {
	case len(given) > 1:
		given[1].fail(given[0].path+" says what it occupies already", "keep one of the two")
		return false
	case len(given) == 1:
		return d.readOccupant(v, given[0], o)
	case o.Stages == nil:
		if !v.doc.misspelt[v.node] {
			v.fail("it has neither stages nor devices", "say where it runs: write stages, devices or link")
		}
		return false
	}
	return true
}

// readOccupant reads the one key that says what an operation occupies.
func (d *decoder) readOccupant(v, part value, o *Operation) (ok bool) {
	switch part.path {
	case join(v.path, "link"):
		o.Link, ok = readEngineName(part)
		return ok
	case join(v.path, "engine"):
		if o.Stages == nil {
			part.fail("it works beside the devices of a stage, and there is none", "write stages too, or link instead")
			return false
		}
		o.Engine, ok = readEngineName(part)
		return ok
	}
	if text, plain := part.plain(); plain && text == "all" {
		o.Devices = make([]int, len(d.config.Devices))
		for i := range o.Devices {
			o.Devices[i] = i
		}
		return true
	}
	if part.listed() && len(part.node.Content) == 0 {
		part.fail("an empty list", "list devices, or write all")
		return false
	}
	o.Devices, ok = d.readGang(part)
	return ok
}

// readEngineName reads the name of an engine.
func readEngineName(v value) (name string, ok bool) {
	name, ok = v.text()
	if ok && name == "" {
		v.fail("an empty name", "write a word such as copy")
		return "", false
	}
	return name, ok
}

// readAmounts reads how long an operation takes, and what it does to memory.
func (d *decoder) readAmounts(v value, o *Operation) bool {
	read := func(key, noun string, number func(value) (Decimal, bool)) ([]Decimal, column[Decimal], bool) {
		at := v.get(key)
		if o.Stages == nil && at.listed() {
			at.fail("a list, and the operation is beside no stage", "write one value")
			return nil, column[Decimal]{}, false
		}
		col, ok := perStage(at, o.count(), noun, number)
		list := make([]Decimal, len(col.cells))
		for i, cell := range col.cells {
			list[i] = cell.or(Decimal{})
		}
		return list, col, ok
	}
	duration, col, ok := read("duration", "stage duration", d.duration)
	for _, cell := range col.cells {
		if cell.value == nil {
			cell.failAbsent("write a duration, 0 if it takes no time")
			return false
		}
	}
	takes, _, taken := read("takes", "stage size", d.size)
	gives, _, given := read("gives", "stage size", d.size)
	o.Duration, o.Takes, o.Gives = duration, takes, gives
	return ok && taken && given
}

// checkUnique fails where two operations have the same name and stage.
func checkUnique(items []value, list []Operation) bool {
	type key struct {
		name  string
		stage int
	}
	first := map[key]int{}
	for i := range list {
		stages := list[i].Stages
		if stages == nil {
			stages = []int{-1}
		}
		for _, stage := range stages {
			k := key{list[i].Name, stage}
			earlier, seen := first[k]
			if !seen {
				first[k] = i
				continue
			}
			problem := fmt.Sprintf("%s of stage %d stands in %s already", k.name, stage, items[earlier].path)
			if stage < 0 {
				problem = fmt.Sprintf("%s stands in %s already", k.name, items[earlier].path)
			}
			items[i].get("name").fail(problem, "give one of them another name")
			return false
		}
	}
	return true
}

// checkCount fails when there are more operations than can be numbered. Taking and
// giving back memory for an operation on an engine are operations too.
func (d *decoder) checkCount(v value, list []Operation) bool {
	const rows = 3
	count := 0
	for i := range list {
		if count += list[i].count(); count > MaxOwnOperations {
			v.fail(fmt.Sprintf("more than %d operations, counting one for each stage", MaxOwnOperations), "name fewer stages")
			return false
		}
	}
	if (4*d.config.Stages+rows*count)*d.config.MicroBatches > MaxOperations {
		v.fail(fmt.Sprintf("%s of %s with these operations are too many", plural(d.config.MicroBatches, "micro-batch"), plural(d.config.Stages, "stage")),
			"use fewer micro-batches, or fewer operations")
		return false
	}
	return true
}
