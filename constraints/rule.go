package constraints

import "fmt"

// Rule names one of the rules of a schedule.
type Rule uint8

// The rules, in the order of the table that Rules returns.
const (
	RuleCompiled     Rule = iota // the problem is what its pipeline says
	RuleCompleteness             // every operation, once
	RulePlacement                // only on its own devices
	RuleChoice                   // split or fused
	RuleTimeline                 // orders and timeline hold the same operations
	RuleStart                    // no start before 0
	RuleOrder                    // orders agree with the times
	RuleExclusive                // one operation at a time
	RulePrecedence               // after the predecessors
	RuleLink                     // after the transfer
	RuleWait                     // after the wait edges of the plan
	RuleMemory                   // within the limit
	numRules
)

// RuleInfo is a row of the table of rules.
type RuleInfo struct {
	Rule      Rule
	Name      string // one word, as in messages
	Statement string // one sentence
}

// Rules returns the table of all rules, indexed by Rule. The caller owns the
// slice.
func Rules() []RuleInfo { return append([]RuleInfo(nil), rules[:]...) }

var rules = [numRules]RuleInfo{
	{RuleCompiled, "compiled", "The rows of the problem have the operations, durations, devices, predecessors and memory that its pipeline describes."},
	{RuleCompleteness, "completeness", "Every operation stands exactly once in the order of each of its devices, that of a gang in the orders of all of them."},
	{RulePlacement, "placement", "An operation stands only in the orders of the devices that hold its stage; a transfer in those of sender and receiver, one of the pipeline's own in those of the devices that it names, if it names any."},
	{RuleChoice, "choice", "Where the plan decides between split and fused, it holds for each stage and micro-batch either both halves of the backward pass or the fused one, never parts of both."},
	{RuleTimeline, "timeline", "The timeline gives a start to exactly those operations that stand in the orders."},
	{RuleStart, "start", "No operation starts before time 0, nor at 2^62 ticks or later."},
	{RuleOrder, "order", "The operations of a device start in the order in which the plan lists them, and those of length 0 that start at one moment do not wait for each other in a circle."},
	{RuleExclusive, "exclusive", "A device runs one operation at a time, to its end: each starts no earlier than the end of the one before it. Blocking transfers are operations of sender and receiver."},
	{RulePrecedence, "precedence", "An operation starts no earlier than the end of each of its predecessors; where the plan holds the other case of a choice, that one stands in."},
	{RuleLink, "link", "A consumer on other devices starts no earlier than the latency of the link after the end of its producer; with blocking transfers, after the end of the transfer; one that asks for a lag, that much later."},
	{RuleWait, "wait", "An operation starts no earlier than the end of every operation that a wait edge of the plan puts before it."},
	{RuleMemory, "memory", "Along the order of a device, what ends before what starts, static memory and what its operations hold never exceed its limit."},
}

// String returns the name of the rule.
func (r Rule) String() string {
	if r < numRules {
		return rules[r].Name
	}
	return fmt.Sprintf("rule(%d)", uint8(r))
}

// NeedsTimes reports whether a rule is about times: without a timeline it cannot
// be tested.
func (r Rule) NeedsTimes() bool {
	switch r {
	case RuleCompiled, RuleCompleteness, RulePlacement, RuleChoice, RuleMemory:
		return false
	}
	return true
}

// Statement returns the rule in one sentence.
func (r Rule) Statement() string { return rules[r].Statement }
