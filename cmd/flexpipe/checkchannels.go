package main

import (
	"errors"
	"strings"

	"github.com/flexpipe/flexpipe/runtime/lower"
)

// channelVerdict is how the programs of a plan end under a model of channels.
type channelVerdict struct {
	channels lower.Channels
	fault    error // nil: they run to the end
}

// runPrograms lowers a plan that breaks no rule, and runs its programs under all models of
// channels. Another plan has no programs.
func (v *verdict) runPrograms() {
	if v.brokenRules() {
		return
	}
	g, err := lower.Lower(v.file.Problem, v.file.Plan)
	for _, c := range lower.AllChannels() {
		fault := err
		if err == nil {
			fault = g.Simulate(c)
		}
		v.channels = append(v.channels, channelVerdict{c, fault})
	}
}

// channelRule is the name of a model of channels as a rule of check.
func channelRule(c lower.Channels) string { return "channels, " + c.String() }

// channelStatement says what a plan keeps if its programs run under a model.
func channelStatement(c lower.Channels) string {
	switch c {
	case lower.Buffered:
		return "The programs of the devices run to the end if each message waits in a mailbox of its own."
	case lower.InOrder:
		return "The programs of the devices run to the end if messages between two devices arrive in the order in which they were sent."
	default:
		return "The programs of the devices run to the end even if a sender waits for its receiver; not every good plan can."
	}
}

// channelRules returns a rule for each model of channels.
func (v *verdict) channelRules() []ruleResult {
	var list []ruleResult
	for i, c := range lower.AllChannels() {
		r := ruleResult{Rule: channelRule(c), Statement: channelStatement(c), Tested: v.channels != nil}
		switch {
		case v.channels == nil || v.channels[i].fault == nil:
		case c.Required():
			r.Violations = 1
		default:
			r.Warnings = 1
		}
		list = append(list, r)
	}
	return list
}

// channelBreaches tells why programs do not run to the end, under the models in which they
// have to, or under the others.
func (v *verdict) channelBreaches(required bool) []breach {
	list := []breach{}
	for _, c := range v.channels {
		if c.fault == nil || c.channels.Required() != required {
			continue
		}
		rule := channelRule(c.channels)
		b := breach{Rule: rule, Ops: []string{}, Message: strings.TrimPrefix(c.fault.Error(), rule+": ")}
		var deadlock *lower.Deadlock
		if errors.As(c.fault, &deadlock) {
			for _, at := range deadlock.Cycle {
				if next := deadlock.Blocked[at].Next; next >= 0 {
					b.Ops = append(b.Ops, v.file.Problem.Name(next))
				}
			}
		}
		list = append(list, b)
	}
	return list
}
