package lower

import (
	"slices"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// TestPassChecks spoils what a pass did and demands that its check finds it.
func TestPassChecks(t *testing.T) {
	tests := []struct {
		name, pass string
		spoil      func(l *lowering)
		want       string // a part of the error
	}{
		{"an operation too many", "complete", func(l *lowering) {
			l.plan = &model.Plan{Order: append(slices.Clone(l.plan.Order), l.plan.Order[0][:1])}
		}, "entries of the orders"},
		{"one is left out", "order", func(l *lowering) { l.order = l.order[1:] }, "operations in order"},
		{"two are exchanged", "order", func(l *lowering) {
			l.order[0], l.order[1] = l.order[1], l.order[0]
			l.rank[l.order[0]], l.rank[l.order[1]] = 0, 1
		}, "stands"},
		{"a message is lost", "messages", func(l *lowering) { l.messages = l.messages[1:] }, "hears nothing"},
		{"a message comes twice", "messages", func(l *lowering) { l.messages = slices.Insert(l.messages, 0, l.messages[0]) }, "2 messages that bring something to 1F0, want 1"},
		{"a message to itself", "messages", func(l *lowering) { l.messages[0].To = l.messages[0].From }, "a message from"},
		{"a gradient is a signal", "messages", func(l *lowering) { l.messages[len(l.messages)-1].Carries = Nothing }, "0 messages that bring something to"},
		{"they leave in another order", "sends", func(l *lowering) { slices.Reverse(l.sent) }, "leaves before"},
		{"one never leaves", "sends", func(l *lowering) { l.sent = l.sent[1:] }, "messages that leave"},
		{"too late", "receives", func(l *lowering) { l.slot[0] = int32(len(l.order) - 1) }, "which needs it"},
		{"too early", "receives", func(l *lowering) { l.slot[len(l.slot)-1] = 0 }, "when it has not left"},
		{"memory is kept", "emit", func(l *lowering) {
			at := slices.IndexFunc(l.devices[0], func(in Instr) bool { return in.Code == Give })
			l.devices[0] = slices.Delete(l.devices[0], at, at+1)
		}, "more than it began with"},
		{"a program ends early", "emit", func(l *lowering) { l.devices[0] = l.devices[0][:5] }, "does not compute"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := modelgen.Problem(modelgen.Spec{Devices: 3, MicroBatches: 3, Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}})
			l := &lowering{p: p, plan: modelgen.OneForwardOneBackward(p)}
			for _, pass := range passes {
				if err := pass.run(l); err != nil {
					t.Fatal(err)
				}
				if err := pass.check(l); err != nil {
					t.Fatal(err)
				}
				if pass.name == test.pass {
					test.spoil(l)
					if err := pass.check(l); err == nil || !strings.Contains(err.Error(), test.want) {
						t.Errorf("error %v, want one with %q", err, test.want)
					}
					return
				}
			}
			t.Fatalf("no pass is called %s", test.pass)
		})
	}
}
