package constraints_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// byHand is a problem of two stages on two devices with two micro-batches and a
// latency of 2, and a valid schedule written down by hand: rows 0F 0I 0W 1F 1I 1W.
func byHand(mode model.Mode) schedule {
	p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2, Latency: 2, Backward: mode,
		F: []model.Time{1}, I: []model.Time{2}, W: []model.Time{3}})
	s := schedule{p, &model.Plan{Order: make([][]model.OpID, 2)}, &model.Timeline{Start: make([]model.Time, p.NumOps())}}
	for op := range s.tl.Start {
		s.tl.Start[op] = model.Absent
	}
	s.run(0, "0F0", 0, "0F1", 1, "0I0", 8, "0W0", 10, "0I1", 13, "0W1", 15)
	s.run(1, "1F0", 3, "1I0", 4, "1F1", 6, "1I1", 7, "1W0", 9, "1W1", 12)
	return s
}

// run appends operations and their starts, in turn, to the order of a device.
func (s schedule) run(d int, pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		op := s.op(pairs[i].(string))
		s.plan.Order[d] = append(s.plan.Order[d], op)
		s.tl.Start[op] = model.Time(pairs[i+1].(int))
	}
}

func (s schedule) op(name string) model.OpID {
	for op := range model.OpID(s.p.NumOps()) {
		if s.p.Name(op) == name {
			return op
		}
	}
	panic("no operation " + name)
}

func TestMessages(t *testing.T) {
	if err := byHand(model.Split).check().Err(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want  string
		mode  model.Mode
		wrong func(schedule)
	}{
		{"completeness: the plan has orders for 3 devices, the problem has 2", model.Split,
			func(s schedule) { s.plan.Order = append(s.plan.Order, nil) }},
		{"completeness: position 6 of device 1 names operation 99, which does not exist: there are 12", model.Split,
			func(s schedule) { s.plan.Order[1] = append(s.plan.Order[1], 99) }},
		{"completeness: 1F0 stands in the order of device 1 twice, again at position 6", model.Split,
			func(s schedule) { s.run(1, "1F0", 3) }},
		{"completeness: 1W1 is missing in the order of device 1", model.Split,
			func(s schedule) { s.plan.Order[1] = s.plan.Order[1][:5] }},
		{"placement: 1W1 stands in the order of device 0, but runs on device 1", model.Split,
			func(s schedule) { s.run(0, "1W1", 12) }},
		{"choice: the plan holds 1I0 and 1W0 beside 1B0, which is both in one; keep one of the two cases", model.Auto,
			func(s schedule) { s.run(1, "1B0", 50) }},
		{"choice: the plan holds neither 0I1 and 0W1 nor 0B1, which is both in one", model.Auto,
			func(s schedule) { s.plan.Order[0] = s.plan.Order[0][:4] }},
		{"timeline: the timeline has 13 starts, the problem has 12 operations", model.Split,
			func(s schedule) { s.tl.Start = append(s.tl.Start, 0) }},
		{"timeline: 0W0 stands in the orders, but has no start", model.Split,
			func(s schedule) { s.tl.Start[s.op("0W0")] = model.Absent }},
		{"timeline: 0B0 starts at 4 ticks, but stands in no order", model.Auto,
			func(s schedule) { s.tl.Start[s.op("0B0")] = 4 }},
		{"start: 0F0 starts at -3 ticks, before time 0", model.Split,
			func(s schedule) { s.tl.Start[s.op("0F0")] = -3 }},
		{"start: 0W1 starts at 4611686018427387904 ticks, beyond 2^62 ticks", model.Split,
			func(s schedule) { s.tl.Start[s.op("0W1")] = 1 << 62 }},
		{"order: 0F0 stands behind 0F1 in the order of device 0, but runs before it (starts at 0 ticks and 1 tick)", model.Split,
			func(s schedule) { o := s.plan.Order[0]; o[0], o[1] = o[1], o[0] }},
		{"exclusive: device 1 runs 1W0 until 12 ticks, but 1W1 starts at 11 ticks", model.Split,
			func(s schedule) { s.tl.Start[s.op("1W1")] = 11 }},
		{"precedence: 1F0 starts at 0 ticks, before 0F0 ends at 1 tick; the earliest start is 3 ticks", model.Split,
			func(s schedule) { s.tl.Start[s.op("1F0")] = 0 }},
		{"link: 1F0 starts at 2 ticks, but 0F0 ends at 1 tick and the transfer takes 2 ticks; the earliest start is 3 ticks", model.Split,
			func(s schedule) { s.tl.Start[s.op("1F0")] = 2 }},
		{"wait: 0I0 starts at 8 ticks, but a wait edge puts 1W0 before it, which ends at 12 ticks", model.Split,
			func(s schedule) { s.plan.Waits = []model.Wait{{Before: s.op("1W0"), After: s.op("0I0")}} }},
		{"wait: a wait edge puts operation -1 before operation 3: there are 12 operations", model.Split,
			func(s schedule) { s.plan.Waits = []model.Wait{{Before: -1, After: 3}} }},
	} {
		s := byHand(c.mode)
		c.wrong(schedule{s.p, s.plan, s.tl})
		if err := s.check().Err(); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestUnitsInMessages(t *testing.T) {
	pl := modelgen.Pipeline(modelgen.Spec{Devices: 1, MicroBatches: 1, F: []model.Time{25},
		Static: []model.Bytes{3}, Limit: []model.Bytes{2}})
	pl.TimeUnit = model.Unit{Name: "us", Multiplier: 1, Divisor: 10}
	pl.MemoryUnit = model.Unit{Name: "GiB", Multiplier: 1, Divisor: 2}
	pl.Devices[0].Name = "left"
	p := compile(t, pl)
	plan := &model.Plan{Order: [][]model.OpID{{0, 1, 2}}}
	err := constraints.Check(p, plan, &model.Timeline{Start: []model.Time{0, 20, 30}}).Err()
	want := "memory: device 0 (left) holds 1.5 GiB of static memory, limit 1 GiB; no order can mend that\n" +
		"exclusive: device 0 (left) runs 0F0 until 2.5 us, but 0I0 starts at 2 us\n" +
		"precedence: 0I0 starts at 2 us, before 0F0 ends at 2.5 us; the earliest start is 2.5 us"
	if err == nil || strings.ReplaceAll(err.Error(), "2.0 us", "2 us") != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// TestCap breaks a rule more often than a report describes.
func TestCap(t *testing.T) {
	p := modelgen.Unit(1, 30)
	s := randomSchedule(p, 1, 0)
	for op := range s.tl.Start {
		s.tl.Start[op] = -5
	}
	report := s.check()
	if got := report.Counts[constraints.RuleStart]; got != 90 || report.Total() != 90 {
		t.Errorf("%d violations", got)
	}
	if len(report.Violations) != constraints.MaxViolations {
		t.Errorf("%d described", len(report.Violations))
	}
	err := report.Err()
	var broken *constraints.RuleError
	if !errors.As(err, &broken) || broken.Report != report {
		t.Errorf("error %T", err)
	}
	if !strings.HasSuffix(err.Error(), "\nand 70 more violations") {
		t.Errorf("error ends in %q", err.Error()[len(err.Error())-60:])
	}
}

// TestZeroLength allows operations of length 0 at the ends of others only.
func TestZeroLength(t *testing.T) {
	p := modelgen.Problem(modelgen.Spec{Devices: 1, MicroBatches: 2, F: []model.Time{0}, I: []model.Time{4}, W: []model.Time{0}})
	order := []model.OpID{p.Op(0, 0), p.Op(0, 1), p.Op(1, 0), p.Op(2, 0), p.Op(1, 1), p.Op(2, 1)}
	for _, c := range []struct {
		starts []model.Time // in the order of the device
		rule   string
	}{
		{[]model.Time{0, 0, 0, 4, 4, 8}, ""},
		{[]model.Time{0, 0, 0, 6, 6, 10}, ""},
		{[]model.Time{0, 0, 0, 4, 3, 8}, "exclusive"},
		{[]model.Time{1, 0, 1, 5, 5, 9}, "order"},
	} {
		tl := &model.Timeline{Start: make([]model.Time, p.NumOps())}
		for i, op := range order {
			tl.Start[op] = c.starts[i]
		}
		report := constraints.Check(p, &model.Plan{Order: [][]model.OpID{order}}, tl)
		got := ""
		if !report.OK() {
			got = report.Violations[0].Rule.String()
		}
		if got != c.rule || report.Total() > 1 {
			t.Errorf("starts %v: got %v, want rule %q", c.starts, report.Err(), c.rule)
		}
	}
}
