package tune

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestZZ(t *testing.T) {
	ctx := context.Background()
	for _, k := range []int{0, 5, 9} {
		r := rand.New(rand.NewPCG(uint64(k), 7))
		P := 2 + r.IntN(5)
		M := P + r.IntN(14)
		list := func(lo, n int) string {
			s := "["
			for i := range P {
				if i > 0 {
					s += ", "
				}
				s += fmt.Sprint(lo + r.IntN(n))
			}
			return s + "]"
		}
		obj := []string{"makespan", "makespan", "span"}[r.IntN(3)]
		lim := 2*P + r.IntN(3*P)
		text := fmt.Sprintf("devices: %d, micro_batches: %d, objective: %s, costs: {forward: %s, backward_input: %s, backward_weight: %s}, communication: {latency: %d}, memory: {activation: 2, freed_by_backward_input: %d, limit: %d}",
			P, M, obj, list(8, 8), list(8, 10), list(4, 9), r.IntN(8), r.IntN(3)-1, lim)
		tn := newTuning(t, text, Options{})
		byKey := map[string]*shape{}
		for _, s := range tn.shapes {
			byKey[s.at.key()] = s
		}
		var all []*scored
		everyPoint(tn, func(at coordinates) {
			all = append(all, &scored{at: at, shape: byKey[at[:len(tn.g.shapes)].key()]})
		})
		ex := &explorer{g: tn.g, workers: 2}
		if err := ex.evaluate(ctx, all); err != nil {
			t.Fatal(err)
		}
		best := -1.0
		for _, p := range all {
			if p.value >= 0 && (best < 0 || p.value < best) {
				best = p.value
			}
		}
		tn = newTuning(t, text, Options{Seed: 1, Evaluations: len(all) / 100})
		if err := tn.explore(ctx); err != nil {
			t.Fatal(err)
		}
		f := tn.explorer.best.value
		for _, p := range all {
			if p.value == best {
				fmt.Println("  best", p.shape.choices, *p.shape.choices.Backward, tn.g.policyAt(p))
				break
			}
		}
		fmt.Println("  found", tn.explorer.best.shape.choices, tn.g.policyAt(tn.explorer.best))
		fmt.Printf("%d: P%d M%d %s lim %d: %d/%d %g best %g %+.2f%%\n", k, P, M, obj, lim, tn.explorer.tries, len(all), f, best, 100*(f/best-1))
	}
}
