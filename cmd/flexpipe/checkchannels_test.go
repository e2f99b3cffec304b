package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// TestChannelViolation: programs that do not run in order fail a plan, those that only do
// not run by rendezvous do not. No plan that keeps the rules has programs that fail, so the
// fault is put in by hand.
func TestChannelViolation(t *testing.T) {
	p := modelgen.Unit(2, 2)
	v := judge(&model.PlanFile{Problem: p, Plan: modelgen.OneForwardOneBackward(p)})
	v.runPrograms()
	if !v.ok() || len(v.channelBreaches(false)) != 1 {
		t.Fatalf("violations %v, warnings %v; want one warning", v.breaches(), v.channelBreaches(false))
	}
	v.channels[lower.InOrder].fault = &lower.FormError{Device: -1, Step: -1, Reason: "nobody sends 0F0"}
	if v.ok() || v.total() != 1 {
		t.Errorf("%d violations, want 1", v.total())
	}
	var out bytes.Buffer
	v.text(&out, true, false)
	if want := "channels, in order: nobody sends 0F0\nfail: 1 violation\n"; out.String() != want {
		t.Errorf("text\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	v.text(&out, false, false)
	if !strings.Contains(out.String(), "channels, in order    1 violation\n") || !strings.Contains(out.String(), "channels, rendezvous  1 warning\n") {
		t.Errorf("table\n%s", out.String())
	}
}
