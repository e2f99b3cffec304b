package sat

import (
	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
)

// job is an operation of a sequence. Where the plan has a choice, the backward
// input stands for the fused operation too, and the backward weight of a
// micro-batch that runs fused is there without length or effect.
type job struct {
	op       model.OpID
	fused    model.OpID // what runs instead of op if the choice is fused; -1: nothing
	row      int32
	sequence int32
	index    int32         // in the sequence
	choice   int32         // its number; -1: none
	rank     int32         // by which operations of no length stand in line: predecessors first
	length   [2]model.Time // units: without choice or split; fused
	devices  []int32
}

// shortest returns the smaller of both lengths.
func (j *job) shortest() model.Time { return min(j.length[0], j.length[1]) }

// longest returns the larger of both lengths.
func (j *job) longest() model.Time { return max(j.length[0], j.length[1]) }

// arc says that a job starts no earlier than lag units after the end of from.
type arc struct {
	from int32
	lag  model.Time
}

// system is a problem as jobs in units of time.
type system struct {
	p         *model.Problem
	unit      model.Time
	jobs      []job // sequence by sequence
	sequences [][]int32
	on        [][]int32 // by device: its sequences
	waits     [][]arc   // by job
	choices   int
	horizon   model.Time // no schedule with all operations as early as their order allows ends later

	forced  [][2]int32   // pairs of which memory puts the first before the second
	closure *closure     // who has to wait for whom
	heads   []model.Time // by job: no earlier start
	tails   []model.Time // by job: no less time from its start to the end
}

// newSystem lists the jobs of a problem. Cost O(operations + precedences).
func newSystem(p *model.Problem) *system {
	s := &system{p: p, unit: unit(p), on: make([][]int32, p.NumDevices())}
	jobOf := make([]int32, p.NumOps())
	for q, sequence := range constraints.Sequences(p) {
		var members []int32
		for i, op := range sequence.Ops {
			jobOf[op] = int32(len(s.jobs))
			members = append(members, int32(len(s.jobs)))
			length := p.Duration(op) / s.unit
			s.jobs = append(s.jobs, job{op: op, fused: op, row: sequence.Row, sequence: int32(q), index: int32(i), choice: -1,
				length: [2]model.Time{length, length}, devices: p.Rows[sequence.Row].Devices})
		}
		s.sequences = append(s.sequences, members)
		for _, d := range p.Rows[sequence.Row].Devices {
			s.on[d] = append(s.on[d], int32(q))
		}
	}
	s.choose(jobOf)
	s.connect(jobOf)
	return s
}

// choose gives the jobs that depend on a choice its number, and their lengths.
func (s *system) choose(jobOf []int32) {
	for a := range constraints.Alternatives(s.p) {
		for k := range s.p.Count(int(a.Fused)) {
			fused := s.p.Base(int(a.Fused)) + model.OpID(k)
			input := &s.jobs[jobOf[s.p.Base(int(a.Split[0]))+model.OpID(k)]]
			weight := &s.jobs[jobOf[s.p.Base(int(a.Split[1]))+model.OpID(k)]]
			input.choice, weight.choice = int32(s.choices), int32(s.choices)
			input.fused, weight.fused = fused, -1
			input.length[1], weight.length[1] = s.p.Duration(fused)/s.unit, 0
			s.choices++
		}
	}
}

// connect fills waits, ranks and horizon.
func (s *system) connect(jobOf []int32) {
	s.waits = make([][]arc, len(s.jobs))
	place := make([]int32, len(s.p.Rows))
	for i, r := range s.p.RowOrder(nil) {
		place[r] = int32(i)
	}
	for j := range s.jobs {
		job := &s.jobs[j]
		index, lag := s.p.Index(job.op), model.Time(0)
		job.rank = place[job.row]
		for _, pred := range s.p.Rows[job.row].Preds {
			row := pred.Row
			if before := &s.p.Rows[row]; before.Choice == model.WhenFused {
				row = before.Twin
			}
			first, end := s.p.PredOps(int(job.row), index, model.Pred{Row: row})
			for q := first; q < end; q++ {
				s.waits[j] = append(s.waits[j], arc{jobOf[q], pred.Lag / s.unit})
			}
			lag = max(lag, pred.Lag/s.unit)
		}
		s.horizon += job.longest() + lag
	}
}

// previous returns the job before j in its sequence, -1 if it is the first.
func (s *system) previous(j int32) int32 {
	if s.jobs[j].index == 0 {
		return -1
	}
	return j - 1
}

// memoryOn returns what a job takes and gives on a device, without choice or
// split, and fused.
func (s *system) memoryOn(j int32, d int) [2]model.Delta {
	job := &s.jobs[j]
	delta := s.p.Rows[job.row].MemoryOn(d)
	switch {
	case job.choice < 0:
		return [2]model.Delta{delta, delta}
	case job.fused < 0:
		return [2]model.Delta{delta, {}}
	}
	return [2]model.Delta{delta, s.p.Row(job.fused).MemoryOn(d)}
}

// net is what is held more behind an operation than before it.
func net(d model.Delta) model.Bytes { return d.AtStart + d.AtEnd }

// peak is the most that is held more during an operation than before it.
func peak(d model.Delta) model.Bytes { return max(d.AtStart, net(d)) }
