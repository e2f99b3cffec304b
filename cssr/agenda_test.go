package cssr

import (
	"context"
	"reflect"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// TestCalendarChangesNothing decodes the same rules with the calendar and with
// the tournament tree, which keeps to the order of time.
func TestCalendarChangesNothing(t *testing.T) {
	windowed := 0
	for seed := range uint64(3000) {
		spec := modelgen.Random(seed, 8)
		for s := range spec.F {
			spec.F[s]++ // a calendar needs time between cause and effect
			spec.I[s]++
		}
		p := modelgen.Problem(spec)
		rule := NewRule(p)
		for r := range rule.Offset {
			rule.Offset[r], rule.Slope[r] = int64(seed*uint64(r+3)%11)*10, int64(seed%7)
			rule.Cap[r] = int32(seed / 2 % 4)
		}
		fast, slow := NewDecoder(p), NewDecoder(p)
		slow.agenda.calendar = nil
		a, err := fast.Decode(context.Background(), rule, 0)
		if err != nil {
			t.Fatal(err)
		}
		if fast.agenda.windowed {
			windowed++
		}
		b, err := slow.Decode(context.Background(), rule, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: the plans differ", seed)
		}
	}
	if windowed < 1000 {
		t.Errorf("only %d runs used the calendar", windowed)
	}
}

// TestAgendasServeInOrder drives both agendas with the same random changes and
// demands the order of time, of windows for the calendar.
func TestAgendasServeInOrder(t *testing.T) {
	const devices = 37
	calendar, tree := newCalendar(devices, 5, 40), newTournament(devices)
	calendar.reset()
	tree.reset(devices)
	state := uint64(1)
	random := func(n uint64) uint64 {
		state = state*6364136223846793005 + 1442695040888963407
		return state >> 33 % n
	}
	last := model.Time(0)
	for range 20000 {
		now := calendar.next()
		if now.time>>calendar.shift < last>>calendar.shift {
			t.Fatalf("window of %d after that of %d", now.time, last)
		}
		if first := tree.node[1]; first.time>>calendar.shift != now.time>>calendar.shift {
			t.Fatalf("the calendar serves time %d, the tree %d", now.time, first.time)
		}
		last = now.time
		at := now.time + 1 + model.Time(random(40))
		if random(10) == 0 && calendar.total > 1 {
			at = never
		}
		calendar.set(now.device, at)
		tree.set(now.device, at)
		if other := int32(random(devices)); calendar.slot[other].time == never {
			calendar.set(other, now.time+5)
			tree.set(other, now.time+5)
		}
	}
}
