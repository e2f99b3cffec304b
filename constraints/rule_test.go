package constraints_test

import (
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
)

func TestRules(t *testing.T) {
	names := map[string]bool{}
	for i, info := range constraints.Rules() {
		if int(info.Rule) != i || info.Rule.String() != info.Name || info.Rule.Statement() != info.Statement {
			t.Errorf("row %d is %+v", i, info)
		}
		if names[info.Name] || strings.ToLower(info.Name) != info.Name || strings.Contains(info.Name, " ") {
			t.Errorf("name %q: one lower-case word of its own is needed", info.Name)
		}
		names[info.Name] = true
		if !strings.HasSuffix(info.Statement, ".") {
			t.Errorf("statement %q is no sentence", info.Statement)
		}
	}
	if got := constraints.Rule(200).String(); got != "rule(200)" {
		t.Errorf("got %q", got)
	}
}

// TestEveryRuleIsMutated keeps the mutation tests whole when a rule is added.
func TestEveryRuleIsMutated(t *testing.T) {
	tested := map[constraints.Rule]bool{
		constraints.RuleCompiled: true, // TestCompiledSees...
		constraints.RuleMemory:   true, // TestOverfull, TestLaterWeight
	}
	for _, m := range mutations {
		tested[m.rule] = true
	}
	for _, info := range constraints.Rules() {
		if !tested[info.Rule] {
			t.Errorf("no mutation breaks rule %s", info.Name)
		}
	}
}
