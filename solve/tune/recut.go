package tune

import (
	"cmp"
	"context"
	"slices"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
)

// Limits of the search for cuts next to that of a row.
const (
	recutFirst  = 3  // the first rows, which are searched around
	recutTries  = 96 // problems built for a row
	recutPolish = 3  // of the cuts a layer away, those with the smallest bounds are decoded
)

// recutRows looks for better cuts next to those of the first rows. Rows that then have the
// problem of a better one are left out. It does nothing where the space does not leave the
// partition to the tuner.
func (t *tuning) recutRows(ctx context.Context) error {
	if !t.g.recuts {
		return nil
	}
	rows := min(recutFirst, len(t.result.Rows))
	for i := range rows {
		t.report(Progress{Stage: "moving layers", Done: i, Limit: rows, Best: t.lowest()})
		if err := t.recut(ctx, &t.result.Rows[i]); err != nil {
			return err
		}
	}
	t.sort()
	seen := map[string]bool{}
	t.result.Rows = slices.DeleteFunc(t.result.Rows, func(row Row) bool {
		key := identity(row.Problem)
		twice := seen[key]
		seen[key] = true
		return twice
	})
	return nil
}

// recut takes one layer from any stage and gives it to any other, as long as that helps.
// Many cuts have the same largest load, of which a partition by load gives one; which is
// best shows in the judge's bound, and in a plan. The row keeps its policy. Errors are
// faults of the program.
func (t *tuning) recut(ctx context.Context, row *Row) error {
	cut := t.cutOf(row)
	for tries := 0; cut != nil; {
		list := moves(cut, recutTries-tries)
		tries += len(list)
		better, err := t.betterCut(ctx, row, list)
		if better == nil || err != nil {
			return err
		}
		cut, *row = better.Point.Choices.Partition, *better
	}
	return nil
}

// betterCut returns a row with one of the cuts that is better than a row; nil if none of
// those with the smallest bounds is, or time is up.
func (t *tuning) betterCut(ctx context.Context, row *Row, cuts [][]int) (*Row, error) {
	shapes := t.shapesOf(ctx, row, cuts)
	for _, s := range shapes[:min(recutPolish, len(shapes))] {
		other, err := t.rowOf(ctx, s, cssr.Point{Choices: s.choices, Policy: row.Point.Policy})
		switch {
		case ctx.Err() != nil:
			return nil, nil
		case tight(err):
			continue
		case err != nil:
			return nil, err
		}
		if err := t.polish(ctx, other); err != nil {
			return nil, err
		}
		if other.Value < row.Value {
			return other, nil
		}
	}
	return nil, nil
}

// shapesOf builds a row's problem with other cuts, on all workers. It returns those that may
// be better, by ascending bounds.
func (t *tuning) shapesOf(ctx context.Context, row *Row, cuts [][]int) []*shape {
	shapes := make([]*shape, len(cuts))
	each(ctx, t.o.Workers, len(cuts), func(i int) { shapes[i] = t.shapeOf(row, cuts[i]) })
	shapes = slices.DeleteFunc(shapes, func(s *shape) bool { return s == nil })
	slices.SortStableFunc(shapes, func(a, b *shape) int {
		return cmp.Compare(inUnit(a.problem, a.bound().Value), inUnit(b.problem, b.bound().Value))
	})
	return shapes
}

// shapeOf builds a row's problem with another cut; nil if there is none, or if bounds say
// that it is not better.
func (t *tuning) shapeOf(row *Row, cut []int) *shape {
	choices := row.Point.Choices
	choices.Partition = cut
	p, err := cssr.Build(t.g.cfg, choices)
	if err != nil {
		return nil // a stage would hold layers of two parts
	}
	s := newShape(nil, choices, p)
	if s.err != nil || s.floor >= row.Value || inUnit(p, s.bound().Value) >= row.Value {
		return nil
	}
	return s
}

// cutOf returns the cut of a row, also where the configuration has a rule for it; nil where
// it has a list.
func (t *tuning) cutOf(row *Row) []int {
	if row.Point.Choices.Partition != nil {
		return row.Point.Choices.Partition
	}
	if t.g.cfg.Partition.Rule == config.PartitionListed {
		return nil
	}
	cut, err := cssr.Cut(t.g.cfg, row.Point.Choices, t.g.cfg.Partition.Rule)
	if err != nil {
		return nil // the row would not exist
	}
	return cut
}

// moves returns the cuts that differ from one by a layer, near moves first, n at most.
func moves(cut []int, n int) [][]int {
	var list [][]int
	for distance := 1; distance < len(cut); distance++ {
		for a := range len(cut) - distance {
			for _, move := range [][2]int{{a, a + distance}, {a + distance, a}} {
				if len(list) == n {
					return list
				}
				if cut[move[0]] > 1 {
					next := slices.Clone(cut)
					next[move[0]]--
					next[move[1]]++
					list = append(list, next)
				}
			}
		}
	}
	return list
}
