package periodic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// Pattern is a schedule that repeats: micro-batch m does the same as micro-batch 0,
// m periods later.
type Pattern struct {
	Period model.Time
	Starts []model.Time // by row, of micro-batch 0; model.Absent for rows of the other case of a choice
	Span   model.Time   // from the first start of a micro-batch to its last end

	// Proved says that no pattern has a smaller period. Patterns in which rows of
	// length 0 that start at one moment run in another order than that of the
	// precedences are not counted; with memory limits they may differ.
	Proved bool
}

// Options steer Find. The zero value is valid.
type Options struct {
	// MaxNodes limits each of the searches (some ten periods, then the span) to so
	// many decisions; 0 means 2 million divided by the number of rows.
	MaxNodes int64

	// Fused takes the fused operation where the problem leaves the choice, for
	// every stage and micro-batch; else all run split.
	Fused bool
}

const defaultNodes = 2_000_000

// ErrNone says that no order of the operations of one micro-batch after another
// keeps within the memory limits, as every pattern is.
var ErrNone = errors.New("periodic: no pattern keeps within the memory limits")

// ErrLimit says that the context or the number of nodes ended a search before it
// came to any pattern.
var ErrLimit = errors.New("periodic: a limit came before the first pattern")

// Find returns a pattern of the smallest period, and of the shortest span that it
// finds for it. When the context ends, the best pattern so far is the result. It is
// deterministic unless the context ends.
//
// Cost: a millisecond for some 25 rows, mostly less than a second for some hundred;
// at worst exponential, up to MaxNodes. Memory O(rows²).
//
// Errors: *solve.FeatureError for what makes micro-batches differ, ErrNone and
// ErrLimit.
func Find(ctx context.Context, p *model.Problem, o Options) (*Pattern, error) {
	if err := refuse(p); err != nil {
		return nil, err
	}
	f := newFinder(ctx, p, o)
	best, proved := f.smallest()
	switch {
	case best == nil && proved:
		return nil, ErrNone
	case best == nil:
		return nil, ErrLimit
	}
	return f.pattern(p, f.shorten(best), proved), nil
}

func newFinder(ctx context.Context, p *model.Problem, o Options) *finder {
	c := allSplit
	if o.Fused {
		c = allFused
	}
	f := &finder{s: newState(newInstance(p, c)), ctx: ctx, nodes: o.MaxNodes}
	if f.nodes == 0 {
		f.nodes = defaultNodes / int64(max(1, len(f.s.in.rows)))
	}
	return f
}

func (f *finder) pattern(p *model.Problem, c *candidate, proved bool) *Pattern {
	t := &Pattern{Period: c.period, Span: c.span, Proved: proved}
	t.Starts = slices.Repeat([]model.Time{model.Absent}, len(p.Rows))
	for local, r := range f.s.in.rows {
		t.Starts[r] = c.starts[local]
	}
	return t
}

// Unroll returns the plan that runs the micro-batches of p by the pattern, which is
// one of p or of a problem that differs only in the number of micro-batches: the
// orders of the pattern's starts. Evaluated, every operation starts as early as they
// allow, so that the makespan is at most (micro-batches - 1)·Period + Span. Cost
// O(operations + span / period · rows).
func (t *Pattern) Unroll(p *model.Problem) *model.Plan {
	rank := make([]int, len(p.Rows)) // at one moment: first what takes no time, by precedence
	for i, r := range p.RowOrder(nil) {
		rank[r] = i
		if p.DurationIn(int(r), 0) > 0 {
			rank[r] += len(p.Rows)
		}
	}
	plan := &model.Plan{Order: make([][]model.OpID, p.NumDevices())}
	for d, rows := range p.RowsOn {
		var turns []event
		last := 0
		for _, r := range rows {
			if s := t.Starts[r]; s != model.Absent {
				turns = append(turns, event{s % t.Period, rank[r], int(r), int(s / t.Period)})
				last = max(last, int(s/t.Period)+p.Count(int(r)))
			}
		}
		slices.SortFunc(turns, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank)) })
		order := make([]model.OpID, 0, len(turns)*p.MicroBatches())
		for period := range last {
			for _, e := range turns {
				if m := period - e.late; m >= 0 && m < p.Count(e.row) {
					order = append(order, p.Base(e.row)+model.OpID(m))
				}
			}
		}
		plan.Order[d] = order
	}
	return plan
}

// event is what a row does in each period: at some time after its begin, for the
// micro-batch that began late periods before.
type event struct {
	at   model.Time
	rank int
	row  int
	late int
}

// Limits of what refuse accepts: for the matrix of distances, for plans whose
// evaluation takes a part of a second, for sums of times and of memory.
const (
	maxRows              = 1000
	maxOps               = 1 << 20
	maxTime  model.Time  = 1 << 40 // of a micro-batch, in ticks
	maxBytes model.Bytes = 1 << 50 // of an operation
)

// refuse returns a *solve.FeatureError for a problem that this package cannot
// solve, nil for others.
func refuse(p *model.Problem) error {
	feature := ""
	switch {
	case !p.Identical:
		feature = "micro-batches that differ"
	case p.Pipeline.NumRoutes() > 1:
		feature = "several routes"
	case len(p.Rows) > maxRows:
		feature = fmt.Sprintf("more than %d rows of operations", maxRows)
	case p.NumOps() > maxOps:
		feature = fmt.Sprintf("more than %d operations", maxOps)
	default:
		feature = outsized(p)
	}
	if feature == "" {
		return nil
	}
	return &solve.FeatureError{Engine: name, Feature: feature}
}

// outsized returns what about the rows of a problem is out of range, "" if nothing.
func outsized(p *model.Problem) string {
	total := model.Time(0)
	for r := range p.Rows {
		row := &p.Rows[r]
		if row.Single {
			return "operations of a whole iteration"
		}
		total += p.DurationIn(r, 0)
		for _, pred := range row.Preds {
			total += pred.Lag
		}
		for _, m := range row.Memory {
			if max(m.AtStart, -m.AtStart, m.AtEnd, -m.AtEnd) > maxBytes {
				return fmt.Sprintf("operations that take more than %d units of memory", maxBytes)
			}
		}
	}
	if total > maxTime {
		return fmt.Sprintf("micro-batches longer than %d ticks", maxTime)
	}
	return ""
}
