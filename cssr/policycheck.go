package cssr

import (
	"fmt"
	"slices"
	"strings"
)

// maxCount is the largest bound or group that a policy may name.
const maxCount = 1 << 30

// check tests that the policy is sound in itself. Error: *PolicyError.
func (pt *Policy) check() error {
	for _, test := range []func() error{pt.checkTypes, pt.checkCounts, pt.checkPatience, pt.checkModes, pt.checkMemory} {
		if err := test(); err != nil {
			return err
		}
	}
	return nil
}

// checkTypes tests the names of kinds and the scopes of exceptions.
func (pt *Policy) checkTypes() error {
	if err := checkKinds(typesKey(AnyActor, AnyPhase), pt.Types); err != nil {
		return err
	}
	for i, e := range pt.Exceptions {
		key := typesKey(e.Actor, e.Phase)
		switch {
		case e.Actor < AnyActor || e.Actor > maxCount || e.Phase >= numPhases || e.Actor == AnyActor && e.Phase == AnyPhase:
			return &PolicyError{key, fmt.Sprintf("an exception for actor %d in phase %d", e.Actor, e.Phase), "name a device, a phase, or both"}
		case len(e.Types) == 0:
			return &PolicyError{key, "it is empty", "list the kinds, the most urgent first, such as I>F>W"}
		case slices.ContainsFunc(pt.Exceptions[:i], func(o Exception) bool { return o.Actor == e.Actor && o.Phase == e.Phase }):
			return &PolicyError{key, "it stands twice", "write it once"}
		}
		if err := checkKinds(key, e.Types); err != nil {
			return err
		}
	}
	return nil
}

// checkKinds tests a priority of kinds.
func checkKinds(key string, types []string) error {
	for i, name := range types {
		switch {
		case !isKindName(name):
			return &PolicyError{key, fmt.Sprintf("%.60q is no name of a kind", name), "write letters, digits, _ and -, with a letter first"}
		case slices.Contains(types[:i], name):
			return &PolicyError{key, name + " stands twice", "name each kind once"}
		}
	}
	return nil
}

// isKindName reports whether a text may be the letter or name of a kind.
func isKindName(text string) bool {
	for i, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789_-", c)) {
			return false
		}
	}
	return text != ""
}

// checkCounts tests the group and the bounds.
func (pt *Policy) checkCounts() error {
	for _, list := range []struct {
		key    string
		counts []int
	}{{"group", []int{pt.Group}}, {"in-flight", pt.InFlight}, {"weights", pt.Weights.Most}} {
		for _, n := range list.counts {
			if n < 0 || n > maxCount {
				return &PolicyError{list.key, fmt.Sprintf("%d is out of range", n), "write a number from 0 to 2^30"}
			}
		}
	}
	return nil
}

// checkPatience tests who waits how long.
func (pt *Policy) checkPatience() error {
	for i, w := range pt.Patience {
		switch {
		case w.Eighths < 0 || w.Eighths > maxPatience:
			return &PolicyError{"patience", fmt.Sprintf("%d eighths of a duration", w.Eighths), fmt.Sprintf("write a number from 0 to %d", maxPatience)}
		case w.Kind != "" && !isKindName(w.Kind):
			return &PolicyError{"patience", fmt.Sprintf("%.60q is no name of a kind", w.Kind), "write letters, digits, _ and -, with a letter first"}
		case slices.ContainsFunc(pt.Patience[:i], func(o Wait) bool { return o.Kind == w.Kind }):
			return &PolicyError{"patience", "a kind, or the number for all others, stands twice", "name each once"}
		}
	}
	return nil
}

// checkModes tests what is one of a few.
func (pt *Policy) checkModes() error {
	switch {
	case pt.Traversal >= numTraversals:
		return &PolicyError{"traversal", fmt.Sprintf("%d is not known", pt.Traversal), "use " + wordList(traversalNames[:])}
	case pt.Weights.Mode >= numWeightModes:
		return &PolicyError{"weights", fmt.Sprintf("mode %d is not known", pt.Weights.Mode), "use " + wordList(weightNames[:])}
	case pt.Weights.Mode != Deferred && len(pt.Weights.Most) > 0:
		return &PolicyError{"weights", "a bound on outstanding weight gradients with " + pt.Weights.Mode.String(), "use deferred, or leave the bound out"}
	}
	return nil
}

// checkMemory tests the shares of memory.
func (pt *Policy) checkMemory() error {
	for _, s := range pt.Memory {
		_, known := shareUnits[s.Unit]
		switch {
		case s.Number < 0 || !known:
			return &PolicyError{"memory", fmt.Sprintf("%.60q is no amount", s), shareRemedy}
		case s.Unit == percent && s.Number > 100:
			return &PolicyError{"memory", s.String() + " of the limit", "write at most 100%"}
		}
	}
	return nil
}

const shareRemedy = "write a whole number, alone or with one of %, B, KB, MB, GB, TB, KiB, MiB, GiB and TiB"
