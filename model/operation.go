package model

import (
	"fmt"
	"slices"
	"strings"
)

// Operation is a further operation of a pipeline's own, beside the forward and
// backward ones of its stages: recomputation, offload, a collective, a barrier
// between micro-batches, an optimizer step. It becomes one row of the problem for
// each route, or a single one.
type Operation struct {
	Name   string // of its kind: lower-case letters, digits and _, such as all_reduce
	Letter string // of its kind in text forms: capitals and _, such as R

	// Stage is the stage beside which it runs, -1 for none. With the name it
	// identifies the operation.
	Stage int

	// Single says that it runs once for the iteration, not once for each
	// micro-batch. What it waits for then has ended for all micro-batches, and what
	// waits for it does so for all micro-batches.
	Single bool

	// Devices are occupied for the whole duration: devices or engines. nil: the
	// devices of the stage's replica, those of all its replicas if Single.
	Devices []int

	Duration Time
	Fixed    bool // micro-batch factors do not scale the duration

	After  []Ref // operations that it waits for
	Before []Ref // operations that wait for it

	// Takes is the memory taken when it starts, Gives the memory given back when it
	// ends, on each device that it occupies. One that occupies engines only takes
	// and gives on the devices of its stage: there two operations of no length,
	// before and after it, mark the places in the order of the device. What an
	// operation takes for a micro-batch and does not give back, the last backward
	// operation of its stage gives back with the activation; what it gives back
	// beyond what it takes is a part of the activation. A Single operation gives back at
	// its end whatever it takes, and gives nothing else.
	Takes, Gives Bytes
}

// Ref names operations to wait for, or that wait: those of a kind beside a
// stage. Kind is the name of another operation, or
//
//	forward          the forward of the stage
//	backward_input   what computes the gradient of the stage's input, also fused
//	backward_weight  what computes the gradient of the stage's weights, also fused
//	backward_full    the fused backward
//	backward         to wait for: all backward operations of the stage; that wait:
//	                 the one that starts its backward, split or fused
//
// Between different devices the latency comes on top, but not from or to an
// engine. The transfer never is an operation of its own, whatever the mode of
// communication.
type Ref struct {
	Kind  string
	Stage int  // -1: the operation of that name beside no stage
	Lag   Time // further ticks from the end of the one to the start of the other
}

// Backward is the name in a [Ref] for the backward of a stage as a whole.
const Backward = "backward"

// Suffixes of the kinds that take and give back memory on a device for an
// operation that occupies engines only.
const (
	allocSuffix = "_alloc"
	freeSuffix  = "_free"
)

// label names an operation in messages.
func (o *Operation) label() string {
	if o.Stage < 0 {
		return o.Name
	}
	return fmt.Sprintf("%s of stage %d", o.Name, o.Stage)
}

// OperationError reports what an operation of a pipeline cannot have.
type OperationError struct {
	Index   int // in Pipeline.Operations
	Name    string
	Problem string
	Remedy  string // may be empty
}

func (e *OperationError) Error() string {
	text := fmt.Sprintf("operation %d (%s): %s", e.Index, e.Name, e.Problem)
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// checkOperations tests the form of all operations. What they wait for is looked
// up when they are compiled.
func (pl *Pipeline) checkOperations() error {
	seen := map[[2]string]int{}
	for i := range pl.Operations {
		o := &pl.Operations[i]
		problem, remedy := pl.faultOf(o)
		key := [2]string{o.Name, fmt.Sprint(o.Stage)}
		if first, twice := seen[key]; twice && problem == "" {
			problem, remedy = fmt.Sprintf("operation %d has the same name and stage", first), "give one of them another name"
		}
		seen[key] = i
		if problem != "" {
			return &OperationError{i, o.Name, problem, remedy}
		}
	}
	return pl.checkLetters()
}

// faultOf says what is wrong with the form of an operation, "" if nothing is.
func (pl *Pipeline) faultOf(o *Operation) (problem, remedy string) {
	switch {
	case !isKindName(o.Name):
		return "its name is not made of lower-case letters, digits and _", "write a name such as all_reduce"
	case isStandardName(o.Name):
		return "its name is that of a standard kind", "choose another name"
	case !isLetter(o.Letter):
		return fmt.Sprintf("its letter %q is not made of capitals and _", o.Letter), "write a letter such as R or REDUCE"
	case o.Stage < -1 || o.Stage >= len(pl.Stages):
		return fmt.Sprintf("there is no stage %d", o.Stage), fmt.Sprintf("the stages are 0 to %d, -1 is none", len(pl.Stages)-1)
	case o.Stage < 0 && len(o.Devices) == 0:
		return "it has neither a stage nor devices", "say where it runs"
	case o.Duration < 0 || o.Duration > maxTotal:
		return fmt.Sprintf("duration %d is out of range", o.Duration), ""
	case o.Takes < 0 || o.Gives < 0 || o.Takes > maxTotal || o.Gives > maxTotal:
		return fmt.Sprintf("it takes %d and gives %d: both must be 0 or more", o.Takes, o.Gives), ""
	case o.Single && o.Gives != 0 && o.Gives != o.Takes:
		return fmt.Sprintf("it runs once, takes %d and gives %d", o.Takes, o.Gives), "leave out what it gives: it gives back what it takes"
	case o.Stage < 0 && !o.Single && o.Takes != o.Gives:
		return fmt.Sprintf("it belongs to no stage, takes %d and gives %d", o.Takes, o.Gives), "make both equal, or name the stage that gives back the rest"
	}
	for _, w := range slices.Concat(o.After, o.Before) {
		if w.Lag < 0 || w.Lag > maxTotal {
			return fmt.Sprintf("lag %d is out of range", w.Lag), ""
		}
	}
	return pl.misplaced(o)
}

// misplaced says what is wrong with the devices of an operation, "" if nothing is.
func (pl *Pipeline) misplaced(o *Operation) (problem, remedy string) {
	sorted := slices.Sorted(slices.Values(o.Devices))
	for i, d := range sorted {
		switch {
		case d < 0 || d >= len(pl.Devices):
			return fmt.Sprintf("there is no device %d", d), ""
		case i > 0 && d == sorted[i-1]:
			return fmt.Sprintf("it lists device %d twice", d), ""
		}
	}
	engines := 0
	for _, d := range o.Devices {
		if pl.Devices[d].Engine {
			engines++
		}
	}
	switch {
	case engines > 0 && engines < len(o.Devices) && o.Takes+o.Gives > 0:
		return "it takes or gives memory on devices and engines together", "let it occupy engines only"
	case engines > 0 && o.Stage < 0 && o.Takes > 0:
		return "it takes memory, occupies engines only and belongs to no stage", "name the stage whose devices hold the memory"
	case engines == 0 && o.Devices != nil && o.Stage >= 0 && !o.Single && o.Takes != o.Gives:
		return fmt.Sprintf("it takes %d and gives %d on devices that do not hold its stage", o.Takes, o.Gives), "make both equal, or leave the devices out"
	}
	return "", ""
}

// checkLetters tests that kinds differ in their letters, and that a kind has one.
func (pl *Pipeline) checkLetters() error {
	letters := map[string]string{}
	for _, k := range StandardKinds() {
		letters[k.Letter] = k.Name
	}
	own := map[string]string{}
	for i := range pl.Operations {
		o := &pl.Operations[i]
		name, used := letters[o.Letter]
		letter, known := own[o.Name]
		switch {
		case used && name != o.Name:
			return &OperationError{i, o.Name, fmt.Sprintf("its letter %s is that of %s", o.Letter, name), "choose another letter"}
		case known && letter != o.Letter:
			return &OperationError{i, o.Name, fmt.Sprintf("its letter is %s here and %s before", o.Letter, letter), "give a kind one letter"}
		}
		letters[o.Letter], own[o.Name] = o.Name, o.Letter
	}
	return nil
}

// RealDevices returns the number of devices that are no engines.
func (pl *Pipeline) RealDevices() int {
	n := 0
	for i := range pl.Devices {
		if !pl.Devices[i].Engine {
			n++
		}
	}
	return n
}

// DeviceCounts says how many devices and engines there are, such as "4 devices" or
// "4 devices, 1 engine".
func (pl *Pipeline) DeviceCounts() string {
	devices := pl.RealDevices()
	text := Plural(devices, "device")
	if engines := len(pl.Devices) - devices; engines > 0 {
		text += ", " + Plural(engines, "engine")
	}
	return text
}

// enginesOnly reports whether all the given devices are engines, and there are any.
func (pl *Pipeline) enginesOnly(devices []int) bool {
	for _, d := range devices {
		if !pl.Devices[d].Engine {
			return false
		}
	}
	return len(devices) > 0
}

func isKindName(name string) bool {
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" &&
		!strings.HasSuffix(name, allocSuffix) && !strings.HasSuffix(name, freeSuffix)
}

func isLetter(letter string) bool {
	return letter != "" && strings.Trim(letter, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

func isStandardName(name string) bool {
	return name == Backward || slices.ContainsFunc(StandardKinds(), func(k KindInfo) bool { return k.Name == name })
}
