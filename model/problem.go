package model

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"
)

// OpID names an operation: dense, from 0 to NumOps-1, row by row, and within a
// row by the index of the micro-batch.
type OpID int32

// Row is a kind of work that is done once for each of its micro-batches, or
// once for the whole iteration.
type Row struct {
	Kind     Kind
	Stage    int     // -1 if it belongs to no stage
	To       int     // transfers: the stage that receives; else -1
	Route    int     // the replica route whose micro-batches it serves
	Devices  []int32 // ascending; occupied for the whole duration; several form a gang
	Duration Time    // ticks, before the factor of the micro-batch
	Fixed    bool    // micro-batch factors do not scale the duration
	Single   bool    // one operation for the iteration, of no micro-batch
	Memory   []Delta // parallel to Devices; nil if none
	Preds    []Pred

	// Choice says in which case a plan holds the operation. Where a plan holds
	// the other case, Twin is the row that stands in for this one as a
	// predecessor (-1: none does).
	Choice Choice
	Twin   int32
}

// Delta is the memory that an operation takes (positive) or gives back
// (negative) on one device when it starts and when it ends.
type Delta struct{ AtStart, AtEnd Bytes }

// Pred says that an operation waits until Lag ticks after the end of its
// predecessor: the operation of Row with the same micro-batch; if either row is
// Single, all operations of Row.
type Pred struct {
	Row int32
	Lag Time
}

// Succ is the reverse of a Pred.
type Succ Pred

// Choice is the part of a row in the choice between split and fused.
type Choice uint8

// The cases in which a plan holds an operation.
const (
	Always Choice = iota
	WhenSplit
	WhenFused
)

// Problem is a compiled Pipeline: what must run, under which rules. It is
// read-only after Compile and safe for concurrent use.
type Problem struct {
	Pipeline *Pipeline // the source; never written
	Kinds    []KindInfo
	Rows     []Row
	Succs    [][]Succ // by row
	Limits   []Bytes  // by device, Unlimited if none
	Statics  []Bytes  // by device: the sum over its stages

	// Identical says that all micro-batches are alike, so that schedules may keep
	// those of a route in index order without loss.
	Identical bool
	// HasChoice says that some rows depend on the plan's choice of split or fused.
	HasChoice bool

	RowsOn   [][]int32 // by device: the rows that occupy it, ascending
	members  [][]int32 // by route: its micro-batches, ascending; nil if all
	position []int32   // by micro-batch: its index within its route; nil if one route
	base     []OpID    // by row; one more entry at the end: the number of operations
	regular  OpID      // operations below have rows of exactly M operations
	magic    uint64    // divides operations below regular by M
}

// NumOps returns the number of operation IDs. With a choice, a plan holds fewer.
func (p *Problem) NumOps() int { return int(p.base[len(p.Rows)]) }

// NumDevices returns the number of devices.
func (p *Problem) NumDevices() int { return len(p.Limits) }

// MicroBatches returns the number of micro-batches of an iteration.
func (p *Problem) MicroBatches() int { return p.Pipeline.MicroBatches }

// Base returns the first operation of a row.
func (p *Problem) Base(row int) OpID { return p.base[row] }

// Count returns the number of operations of a row.
func (p *Problem) Count(row int) int { return int(p.base[row+1] - p.base[row]) }

// RowOf returns the row of an operation. Cost O(1) if all rows have M operations,
// else O(log rows).
func (p *Problem) RowOf(op OpID) int {
	if op < p.regular {
		// (2 op + 1) / 2M has the same integer part as op / M, and works for M = 1.
		row, _ := bits.Mul64(2*uint64(op)+1, p.magic)
		return int(row)
	}
	return p.searchRow(op)
}

func (p *Problem) searchRow(op OpID) int {
	return sort.Search(len(p.Rows), func(r int) bool { return p.base[r+1] > op })
}

// Row returns the row data of an operation.
func (p *Problem) Row(op OpID) *Row { return &p.Rows[p.RowOf(op)] }

// Index returns the index of an operation in its row.
func (p *Problem) Index(op OpID) int { return int(op - p.base[p.RowOf(op)]) }

// MicroBatch returns the micro-batch of an operation, -1 for a Single row.
func (p *Problem) MicroBatch(op OpID) int {
	row := p.RowOf(op)
	if p.Rows[row].Single {
		return -1
	}
	return p.microBatch(row, int(op-p.base[row]))
}

func (p *Problem) microBatch(row, index int) int {
	if m := p.members[p.Rows[row].Route]; m != nil {
		return int(m[index])
	}
	return index
}

// Op returns the operation of a row for a micro-batch of its route; of a Single
// row, the only one.
func (p *Problem) Op(row, microBatch int) OpID {
	if p.Rows[row].Single {
		return p.base[row]
	}
	if p.position != nil {
		microBatch = int(p.position[microBatch])
	}
	return p.base[row] + OpID(microBatch)
}

// Duration returns the ticks of an operation.
func (p *Problem) Duration(op OpID) Time {
	row := p.RowOf(op)
	return p.DurationIn(row, int(op-p.base[row]))
}

// DurationIn is Duration for a caller that knows the row and the index in it.
func (p *Problem) DurationIn(row, index int) Time {
	d := p.Rows[row].Duration
	if p.Pipeline.Factors == nil {
		return d
	}
	return p.scaled(row, index, d)
}

func (p *Problem) scaled(row, index int, d Time) Time {
	if r := &p.Rows[row]; r.Fixed || r.Single {
		return d
	}
	// The unit was chosen so that this division is exact; Compile checks it.
	return d / Time(p.Pipeline.FactorScale) * Time(p.Pipeline.Factors[p.microBatch(row, index)])
}

// PredOps returns the half-open range of operations that a predecessor of the
// operation with the given index in row stands for.
func (p *Problem) PredOps(row, index int, pred Pred) (first, end OpID) {
	base := p.base[pred.Row]
	if p.Rows[row].Single || p.Rows[pred.Row].Single {
		return base, p.base[pred.Row+1]
	}
	return base + OpID(index), base + OpID(index) + 1
}

// Name returns the text form of an operation: stage, letter, micro-batch, such
// as 3F5; a transfer also names the stage that receives: 3SEND_F5>4.
func (p *Problem) Name(op OpID) string { return string(p.AppendName(nil, op)) }

// DeviceName returns the name of a device for messages: "device 3", or
// "device 3 (name)".
func (p *Problem) DeviceName(d int) string {
	if n := p.Pipeline.Devices[d].Name; n != "" {
		return fmt.Sprintf("device %d (%s)", d, n)
	}
	return fmt.Sprintf("device %d", d)
}

// StagesOn lists the stages that a device holds, ascending.
func (p *Problem) StagesOn(d int) []int {
	var stages []int
	for _, r := range p.RowsOn[d] {
		if row := &p.Rows[r]; row.Stage >= 0 && row.Kind <= BackwardFull {
			stages = append(stages, row.Stage)
		}
	}
	slices.Sort(stages)
	return slices.Compact(stages)
}

// ModelsMemory reports whether the problem says anything about memory.
func (p *Problem) ModelsMemory() bool {
	for d := range p.Limits {
		if p.Limits[d] != Unlimited || p.Statics[d] != 0 {
			return true
		}
	}
	return slices.ContainsFunc(p.Rows, func(r Row) bool { return r.Memory != nil })
}

// index fills what is derived from Rows: operation numbers, successors, rows of
// each device. Rows of one micro-batch each must come before Single rows.
func (p *Problem) index() error {
	m := p.MicroBatches()
	p.base = make([]OpID, len(p.Rows)+1)
	total := int64(0)
	uniform := true
	for r := range p.Rows {
		p.base[r] = OpID(total)
		total += int64(p.rowCount(r))
		uniform = uniform && p.rowCount(r) == m
		if uniform {
			p.regular = OpID(total)
		}
		if total >= 1<<31 {
			return fmt.Errorf("%d rows of operations × %d micro-batches exceed 2^31 operations: reduce stages or micro_batches", len(p.Rows), m)
		}
	}
	p.base[len(p.Rows)] = OpID(total)
	p.magic = (1<<63 + uint64(m) - 1) / uint64(m)
	p.RowsOn = make([][]int32, p.NumDevices())
	p.Succs = make([][]Succ, len(p.Rows))
	for r := range p.Rows {
		for _, d := range p.Rows[r].Devices {
			p.RowsOn[d] = append(p.RowsOn[d], int32(r))
		}
		p.addSuccs(r)
	}
	return nil
}

func (p *Problem) rowCount(r int) int {
	switch row := &p.Rows[r]; {
	case row.Single:
		return 1
	case p.members[row.Route] != nil:
		return len(p.members[row.Route])
	default:
		return p.MicroBatches()
	}
}

func (p *Problem) addSuccs(r int) {
	for _, pred := range p.Rows[r].Preds {
		succ := Succ{Row: int32(r), Lag: pred.Lag}
		p.Succs[pred.Row] = append(p.Succs[pred.Row], succ)
		if twin := p.Rows[pred.Row].Twin; twin >= 0 {
			p.Succs[twin] = append(p.Succs[twin], succ)
		}
	}
}
