package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// planLimits bound what a plan file may claim beyond what it lists, so that a
// short file cannot make its reader run out of memory.
type planLimits struct {
	microBatches int // of a problem
	replicas     int // stages × routes
	repeated     int // operations that periods stand for, over all devices
	unlisted     int // operations of a problem whose plan holds less than half of them
}

var defaultPlanLimits = planLimits{microBatches: 1 << 26, replicas: 1 << 20, repeated: 1 << 26, unlisted: 1 << 24}

// DecodePlan reads a plan file, compiles its problem and returns both with the
// times and figures that the file records. Whether the orders make a valid plan
// and the times are right is for the judge to say: DecodePlan only makes sure
// that there is one order for each device, that every name is an operation of
// the problem, and that free text is short and printable.
//
// Unknown keys, keys given twice, wrong types and trailing data are errors.
// Errors are *FileError, with the place. Cost O(len(data) + operations).
func DecodePlan(data []byte) (*PlanFile, error) {
	const byteOrderMark = "\ufeff" // some editors write one
	return decodePlan(strings.TrimPrefix(string(data), byteOrderMark), defaultPlanLimits)
}

func decodePlan(text string, limits planLimits) (*PlanFile, error) {
	d := planDecoder{r: jsonReader{text: text}, limits: limits, file: &PlanFile{Plan: &Plan{}}}
	if err := d.scan(); err != nil {
		return nil, err
	}
	for _, m := range planMembers[2:] {
		if err := d.member(m); err != nil {
			return nil, err
		}
	}
	return d.file, nil
}

// planDecoder reads the members of a plan file in the order in which they
// depend on each other, wherever they stand.
type planDecoder struct {
	r        jsonReader
	limits   planLimits
	file     *PlanFile
	at       map[string]int // offset of the value of each member
	namer    *Namer
	repeated int // operations that periods stand for, so far
}

type planMember struct {
	key      string
	required bool
	read     func(*planDecoder) error
}

// planMembers are the members of a plan file, in the order of reading.
var planMembers = []planMember{
	{"format", true, (*planDecoder).format},
	{"version", true, (*planDecoder).version},
	{"provenance", false, (*planDecoder).provenance},
	{"problem", true, (*planDecoder).problem},
	{"figures", false, (*planDecoder).figures},
	{"order", true, (*planDecoder).orders},
	{"waits", false, (*planDecoder).waits},
	{"times", false, (*planDecoder).times},
}

// scan finds the members and reads the first two, which say whether this is a
// plan file at all, before it reports unknown ones.
func (d *planDecoder) scan() error {
	d.at = map[string]int{}
	var unknown error
	err := d.r.object(func(key string, at int) error {
		if unknown == nil && !slices.ContainsFunc(planMembers, func(m planMember) bool { return m.key == key }) {
			unknown = d.r.fail(at, "unknown key; the keys here are %s", memberKeys())
		}
		d.r.next()
		d.at[key] = d.r.pos
		return d.r.skip()
	})
	if err != nil {
		if len(d.at) == 0 && unknown == nil { // not even a member: no JSON object
			return d.noPlan()
		}
		return err
	}
	if err := d.r.end(); err != nil {
		return err
	}
	for _, m := range planMembers[:2] {
		if err := d.member(m); err != nil {
			return err
		}
	}
	return unknown
}

// ErrNotPlan is the Err of a FileError for a file of another kind.
var ErrNotPlan = errors.New("this is no plan file")

func (d *planDecoder) noPlan() error {
	d.r.path = nil
	return d.wrap(0, ErrNotPlan)
}

func memberKeys() string {
	var keys []string
	for _, m := range planMembers {
		keys = append(keys, m.key)
	}
	return strings.Join(keys, ", ")
}

func (d *planDecoder) member(m planMember) error {
	at, ok := d.at[m.key]
	if !ok {
		if m.required {
			if m.key == "format" {
				return d.noPlan()
			}
			return d.r.fail(0, "%q is missing", m.key)
		}
		return nil
	}
	d.r.pos, d.r.path = at, append(d.r.path[:0], pathStep{key: m.key})
	return m.read(d)
}

func (d *planDecoder) format() error {
	at := d.r.pos
	text, err := d.r.string()
	if err == nil && text != planFormat {
		err = d.wrap(at, fmt.Errorf("%w: the format is %.60q, not %q", ErrNotPlan, text, planFormat))
	}
	return err
}

func (d *planDecoder) version() error {
	at := d.r.pos
	n, err := d.r.integer()
	if err == nil && n != planVersion {
		err = d.r.fail(at, "version %d is unknown; this program reads version %d", n, planVersion)
	}
	return err
}

func (d *planDecoder) problem() error {
	at := d.r.pos
	var j problemJSON
	if err := d.r.decode(&j); err != nil {
		return err
	}
	b := pipelineReader{r: &d.r, at: at}
	pl := b.pipeline(&j)
	if b.err != nil {
		return b.err
	}
	switch {
	case pl.MicroBatches > d.limits.microBatches:
		return d.r.failAt(at, steps("micro_batches"), "%d micro-batches; a plan file may have %d", pl.MicroBatches, d.limits.microBatches)
	case pl.NumRoutes() > d.limits.replicas/max(len(pl.Stages), 1):
		return d.r.failAt(at, steps("stages"), "%d stages with up to %d replicas; a plan file may have %d in all", len(pl.Stages), pl.NumRoutes(), d.limits.replicas)
	}
	p, err := Compile(pl)
	if err != nil {
		return d.refuse(at, err)
	}
	d.file.Problem, d.namer = p, NewNamer(p)
	return nil
}

// refuse returns what Compile says of the problem at an offset, at the stage or
// device that it is about.
func (d *planDecoder) refuse(at int, err error) error {
	var path []pathStep
	var wrong *PipelineError
	var operation *OperationError
	if errors.As(err, &operation) {
		path = append(steps("operations"), pathStep{index: operation.Index})
	}
	if errors.As(err, &wrong) {
		switch {
		case wrong.Stage >= 0:
			path = append(steps("stages"), pathStep{index: wrong.Stage})
		case wrong.Device >= 0:
			path = append(steps("devices"), pathStep{index: wrong.Device})
		}
		err = wrong.Err
	}
	file := d.r.failAt(at, path, "%v", err).(*FileError)
	file.Err = err
	return file
}

func (d *planDecoder) provenance() error {
	at, p := d.r.pos, &d.file.Provenance
	if err := d.r.decode(p); err != nil {
		return err
	}
	texts := []struct{ key, text string }{
		{"tool", p.Tool}, {"version", p.Version}, {"engine", p.Engine}, {"schedule", p.Schedule}, {"created", p.Created},
	}
	for _, t := range texts {
		if !isShortLine(t.text) {
			return d.r.failAt(at, steps(t.key), notShortLine)
		}
	}
	return nil
}

// wrap returns err as a FileError at an offset.
func (d *planDecoder) wrap(at int, err error) error {
	file := d.r.fail(at, "%v", err).(*FileError)
	file.Err = err
	return file
}

func (d *planDecoder) orders() error {
	at, p := d.r.pos, d.file.Problem
	orders := make([][]OpID, 0, p.NumDevices())
	err := d.r.array(func(dev int) error {
		if dev >= p.NumDevices() {
			return d.r.fail(d.r.pos, "there is no device %d; the problem has %d", dev, p.NumDevices())
		}
		order, err := d.order()
		orders = append(orders, order)
		return err
	})
	if err != nil {
		return err
	}
	if len(orders) < p.NumDevices() {
		return d.r.fail(at, "orders of %d devices; the problem has %d, and one without operations has []", len(orders), p.NumDevices())
	}
	d.file.Plan.Order = orders
	if n := d.file.Plan.NumOps(); p.NumOps() > d.limits.unlisted && n < p.NumOps()/2 {
		return d.r.fail(at, "the orders hold %d of %d operations; a plan of this size must be complete", n, p.NumOps())
	}
	return nil
}

// order reads the order of one device: names and periods.
func (d *planDecoder) order() ([]OpID, error) {
	var order []OpID
	err := d.r.array(func(int) error {
		if d.r.next() == '{' {
			return d.period(&order)
		}
		op, err := d.op()
		order = append(order, op)
		return err
	})
	return order, err
}

func (d *planDecoder) op() (OpID, error) {
	d.r.next()
	at := d.r.pos
	text, err := d.r.string()
	if err != nil {
		return 0, err
	}
	op, err := d.namer.Parse(text)
	if err != nil {
		return 0, d.wrap(at, err)
	}
	return op, nil
}

// period reads a period and appends what it stands for.
func (d *planDecoder) period(order *[]OpID) error {
	at := d.r.pos
	var j struct {
		Period []string `json:"period"`
		Step   int      `json:"step"`
		Count  int      `json:"count"`
	}
	if err := d.r.decode(&j); err != nil {
		return err
	}
	if len(j.Period) == 0 {
		return d.r.fail(at, "a period without operations")
	}
	s := segment{ops: make([]OpID, len(j.Period)), step: j.Step, count: j.Count}
	for i, text := range j.Period {
		var err error
		if s.ops[i], err = d.namer.Parse(text); err != nil {
			return d.wrap(at, err)
		}
		if err := d.namer.checkRepeat(s.ops[i], s.step, s.count); err != nil {
			return d.wrap(at, err)
		}
	}
	if s.count > (d.limits.repeated-d.repeated)/len(s.ops) {
		return d.r.fail(at, "periods stand for more than %d operations; list some of the orders in full", d.limits.repeated)
	}
	d.repeated += s.count * len(s.ops)
	expanded, err := d.namer.expand(*order, s)
	if err != nil {
		return d.wrap(at, err)
	}
	*order = expanded
	return nil
}

func (d *planDecoder) figures() error {
	d.r.next()
	at := d.r.pos
	var f struct {
		Value *Time `json:"value"`
		Bound *Time `json:"bound"`
	}
	if err := d.r.decode(&f); err != nil {
		return err
	}
	if f.Value == nil || f.Bound == nil {
		return d.r.fail(at, "figures need a value and a bound; leave out figures to have them computed")
	}
	d.file.Figures = &Figures{*f.Value, *f.Bound}
	return nil
}

func (d *planDecoder) waits() error {
	return d.r.array(func(int) error {
		d.r.next()
		at := d.r.pos
		var ops []OpID
		err := d.r.array(func(int) error {
			op, err := d.op()
			ops = append(ops, op)
			return err
		})
		if err == nil && len(ops) != 2 {
			err = d.r.fail(at, "a wait edge has 2 operations, the one before and the one after, not %d", len(ops))
		}
		if err == nil {
			d.file.Plan.Waits = append(d.file.Plan.Waits, Wait{ops[0], ops[1]})
		}
		return err
	})
}
