package partition

import (
	"context"
	"fmt"
	"strings"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
)

// An InfeasibleError says that no choice keeps the memory limits.
type InfeasibleError struct {
	// Device is the one short of memory in the choice that exceeds the limits by
	// least, -1 where Options.Plain leaves out all that is said here, Need the bytes that it needs there, and Limit what it has.
	Device      int
	Need, Limit int64
	// Nearest is that choice. Exact says that none exceeds the limits by less; else
	// it is one that a narrow search found.
	Nearest Choice
	Exact   bool
	// Short has the devices that exceed their limits in Nearest. Raising
	// each by Need - Limit makes it fit.
	Short []int
	// Recompute is the best choice that fits when stages may recompute in ways
	// that the problem does not allow; nil if none does.
	Recompute *Choice
}

func (e *InfeasibleError) Error() string {
	if e.Device < 0 {
		return "no partition fits in memory"
	}
	return fmt.Sprintf("no partition fits in memory: device %d needs %s, its limit is %s; %s would fit",
		e.Device, size(e.Need), size(e.Limit), e.Remedy())
}

// Remedy names the cheapest change under which a choice fits: time, if recomputing
// is enough, else memory.
func (e *InfeasibleError) Remedy() string {
	if e.Recompute != nil {
		return describeRecompute(e.Recompute.Recompute)
	}
	if len(e.Short) == 1 {
		return fmt.Sprintf("a limit of %s on device %d", size(e.Need), e.Device)
	}
	return fmt.Sprintf("%s more on devices %s", size(e.Need-e.Limit), ranges(e.Short))
}

// size writes bytes, rounded up.
func size(bytes int64) string { return model.Unit{Name: "byte"}.SizeUp(bytes) }

// describeRecompute says which stages recompute: "full recompute on stages 0-1".
func describeRecompute(list []network.Recompute) string {
	var parts []string
	for r := network.RecomputeFull; r > network.RecomputeNone; r-- {
		var stages []int
		for s := range list {
			if list[s] == r {
				stages = append(stages, s)
			}
		}
		if len(stages) > 0 {
			noun := "stages "
			if len(stages) == 1 {
				noun = "stage "
			}
			parts = append(parts, r.String()+" recompute on "+noun+ranges(stages))
		}
	}
	return strings.Join(parts, " and ")
}

// ranges writes ascending numbers: "0-2, 5".
func ranges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(list[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", list[i], list[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// infeasible explains why no choice fits, which must be known.
func (f *frontier) infeasible(ctx context.Context, o Options) error {
	if o.Plain {
		return &InfeasibleError{Device: -1}
	}
	steps := o.steps()
	q := query{keep: 1, floor: -1, byBusiest: true, overrun: true, budget: steps}
	list, err := f.leastOverrun(ctx, q)
	exact := err == nil
	if isLimit(err) {
		q.quota, q.budget = quickQuota, 64*quickSteps
		list, err = f.leastOverrun(context.Background(), q)
	}
	if err != nil {
		return err
	}
	e := &InfeasibleError{Nearest: list[0], Exact: exact, Recompute: f.recomputed(ctx, steps)}
	_, use := Evaluate(f.p, &e.Nearest)
	for d, u := range use {
		limit := f.p.Devices[d].Limit
		if limit == 0 || u.Bytes <= limit {
			continue
		}
		e.Short = append(e.Short, d)
		if u.Bytes-limit > e.Need-e.Limit {
			e.Device, e.Need, e.Limit = d, u.Bytes, limit
		}
	}
	return e
}

// leastOverrun allows the devices more and more beyond their limits, until
// something fits. There is some end to that.
func (f *frontier) leastOverrun(ctx context.Context, q query) ([]Choice, error) {
	largest := int64(1)
	for _, d := range f.p.Devices {
		largest = max(largest, d.Limit)
	}
	for q.limit = max(1, largest/64); ; q.limit *= 4 {
		if list, err := f.run(ctx, q); err != nil || len(list) > 0 {
			return list, err
		}
	}
}

// recomputed returns the best choice among all ways to recompute that the layers
// have costs for; nil if none fits or the search is too long.
func (f *frontier) recomputed(ctx context.Context, steps int) *Choice {
	q := *f.p
	q.Recompute = nil
	count := len(q.Layers[0].Modes)
	for i := range q.Layers {
		count = min(count, len(q.Layers[i].Modes))
	}
	for r := range count {
		q.Recompute = append(q.Recompute, network.Recompute(r))
	}
	if len(q.Recompute) == len(f.p.modes()) {
		return nil
	}
	g := newFrontier(&q)
	if !g.narrow {
		return g.look()
	}
	list, err := g.best(ctx, 1, steps)
	if err != nil {
		return g.look()
	}
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}
