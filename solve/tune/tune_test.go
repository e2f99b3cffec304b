package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/solve"
)

// small are configurations whose finalists are proved within a second or so.
var small = map[string]string{
	"costs":   "devices: 2, micro_batches: 3, costs: {forward: [2, 3], backward_input: [2, 4], backward_weight: [1, 2]}, memory: {activation: 1, limit: 3}",
	"fused":   "devices: 3, micro_batches: 3, costs: {forward: 1, backward_full: [2, 3, 2]}, backward: fused, communication: {latency: 1}",
	"span":    "devices: 2, micro_batches: 4, objective: span, costs: {forward: 3, backward_input: [3, 4], backward_weight: 2}, memory: {activation: 1, freed_by_backward_input: 0.5, limit: 2}",
	"factors": "devices: 2, micro_batches: [1, 2, 0.5], costs: {forward: 2, backward_input: 4, backward_weight: 2}",
	"network": `devices: 2, global_batch: 4, unit: us,
  model: {kind: gpt, layers: 4, hidden: 64, heads: 2, sequence: 16, vocabulary: 512}, cluster: {flops: 1e10, link_bandwidth: 1e9, link_latency: 1us}`,
}

func configOf(t testing.TB, text string) *config.Config {
	t.Helper()
	cfg, err := config.Decode([]byte("{version: 1, "+text+"}"), "tune.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func tuned(t testing.TB, text string, space cssr.Space, o Options) *Result {
	t.Helper()
	r, err := Tune(context.Background(), configOf(t, text), space, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rowText writes what a caller sees of a row.
func rowText(row *Row) string {
	orders := *row.Result.Plan
	return fmt.Sprintf("%g [%d, %d] %v %s: %s: %v", row.Value, row.Result.Bound, row.Result.Value, row.Result.Status, row.Result.Proof, row.Point.String(), orders)
}

func rowTexts(r *Result) (list []string) {
	for i := range r.Rows {
		list = append(list, rowText(&r.Rows[i]))
	}
	return list
}

// narrow keeps tests of whole tunings fast.
var narrow = cssr.Space{Chunks: []int{1, 2}}

// The same seed gives the same rows, values, points and orders, with any number of
// workers; with finalists only if all of them are proved, as no limit of time may end
// their search.
func TestDeterministic(t *testing.T) {
	for name, text := range small {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, finalists := range []int{-1, 2} {
				o := Options{Seed: 7, Workers: 1, Top: 4, Evaluations: 300, Finalists: finalists}
				first := tuned(t, text, narrow, o)
				want := rowTexts(first)
				if len(want) == 0 || first.Reference == nil {
					t.Fatalf("%d rows, reference %v", len(want), first.Reference)
				}
				for _, workers := range []int{1, 2, 5} {
					o.Workers = workers
					r := tuned(t, text, narrow, o)
					got := rowTexts(r)
					if finalists > 0 { // solvers on several workers may find another plan as good
						got, want = valuesOf(r), valuesOf(first)
					}
					if !slices.Equal(got, want) {
						t.Errorf("%d finalists, %d workers:\n%s\nwant\n%s", finalists, workers, strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
					if r.Evaluated != first.Evaluated || r.Pruned != first.Pruned || r.Points != first.Points || r.Shapes != first.Shapes {
						t.Errorf("%d workers: %d decoded and %d pruned of %d, want %d, %d, %d", workers, r.Evaluated, r.Pruned, r.Points, first.Evaluated, first.Pruned, first.Points)
					}
				}
			}
		})
	}
}

func valuesOf(r *Result) (list []string) {
	for i := range r.Rows {
		row := &r.Rows[i]
		list = append(list, fmt.Sprintf("%g [%d, %d] %v: %s", row.Value, row.Result.Bound, row.Result.Value, row.Result.Status, row.Point.String()))
	}
	return list
}

// Rows hold what they say: the problem of the point's choices, a plan that the judge
// accepts, its value, a bound that is not above it, and an account that adds up to it.
// They are in order, and none is a shape twice.
func TestRows(t *testing.T) {
	for name, text := range small {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := configOf(t, text)
			for _, finalists := range []int{-1, 1} {
				r := tuned(t, text, narrow, Options{Seed: 3, Workers: 2, Evaluations: 200, Finalists: finalists})
				for i := range r.Rows {
					checkRow(t, cfg, &r.Rows[i])
					if i > 0 && r.Rows[i].Value < r.Rows[i-1].Value {
						t.Errorf("row %d has %g, the one before %g", i, r.Rows[i].Value, r.Rows[i-1].Value)
					}
				}
				checkRow(t, cfg, r.Reference)
				checkCounts(t, r)
			}
		})
	}
}

func checkRow(t *testing.T, cfg *config.Config, row *Row) {
	t.Helper()
	p, plan := row.Problem, row.Result.Plan
	built, err := cssr.Build(cfg, row.Point.Choices)
	if err != nil {
		t.Fatal(err)
	}
	if identity(built) != identity(p) {
		t.Errorf("%s is not the point of its problem", row.Point.String())
	}
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		t.Fatal(err)
	}
	if report := constraints.Check(p, plan, tl); !report.OK() {
		t.Errorf("%s: the judge refuses the plan: %v", row.Point.String(), report.Violations)
	}
	m := model.Measure(p, plan, tl)
	if value := m.Value(p.Pipeline.Objective); value != row.Result.Value || inUnit(p, value) != row.Value || row.Result.Bound > value {
		t.Errorf("%s: value %d; the row says %d, %g, bound %d", row.Point.String(), value, row.Result.Value, row.Value, row.Result.Bound)
	}
	sum := 0.0
	for _, part := range Parts() {
		sum += part.Amount(row.Account)
	}
	if diff := sum - row.Value; diff > 1e-9*row.Value || diff < -1e-9*row.Value {
		t.Errorf("%s: the account %+v adds up to %g, the value is %g", row.Point.String(), row.Account, sum, row.Value)
	}
	if parsed, err := cssr.ParsePoint(row.Point.String()); err != nil || parsed.String() != row.Point.String() {
		t.Errorf("%s reads as %v, %v", row.Point.String(), parsed, err)
	}
}

// checkCounts demands that no point counts twice.
func checkCounts(t *testing.T, r *Result) {
	t.Helper()
	if r.Evaluated < 1 || r.Evaluated+r.Pruned > r.Points || r.Shapes < r.Refused+r.TooLarge {
		t.Errorf("%d decoded and %d pruned of %d points; %d shapes, of which %d refused and %d too large",
			r.Evaluated, r.Pruned, r.Points, r.Shapes, r.Refused, r.TooLarge)
	}
}

// What a tuning starts from is among its rows, even where the space has nothing as good.
func TestStartIsBeaten(t *testing.T) {
	start, err := cssr.ParsePoint("placement=v chunks=2 backward=split types=I>F>W weights=fill")
	if err != nil {
		t.Fatal(err)
	}
	worse := cssr.Space{Placements: []string{"linear"}, Backwards: []string{"fused"}}
	for name, text := range small {
		if name == "fused" {
			continue // cannot be split
		}
		for _, space := range []cssr.Space{narrow, worse} {
			r := tuned(t, text, space, Options{Seed: 1, Workers: 2, Evaluations: 60, Finalists: -1, Start: &start})
			if r.Reference == nil || r.Reference.Point.String() != start.String() {
				t.Fatalf("%s: the reference is %v", name, r.Reference)
			}
			if r.Rows[0].Value > r.Reference.Value {
				t.Errorf("%s: %g is worse than the start, %g", name, r.Rows[0].Value, r.Reference.Value)
			}
		}
	}
}

// A space of which every point fits nowhere has no rows, and says why.
func TestNothingFits(t *testing.T) {
	for _, text := range []string{
		"devices: 2, micro_batches: 4, costs: {forward: 1, backward_input: 1, backward_weight: 1}, memory: {activation: 2, static: 1, limit: 1.1}",
		"devices: 2, micro_batches: 2, unit: us, model: {kind: gpt, layers: 4, hidden: 64, heads: 2, sequence: 16, vocabulary: 512}, cluster: {flops: 1e10, link_bandwidth: 1e9}, memory: {limit: 1MB}",
	} {
		r := tuned(t, text, narrow, Options{Workers: 2})
		if len(r.Rows) > 0 || r.Reference != nil || r.Points > 0 || r.TooLarge+r.Refused != r.Shapes || r.TooLarge == 0 {
			t.Errorf("%d rows, reference %v, %d points, %d of %d shapes too large", len(r.Rows), r.Reference, r.Points, r.TooLarge, r.Shapes)
		}
		if !strings.HasPrefix(r.Reason, fmt.Sprintf("memory allows none of %d shapes", r.TooLarge)) {
			t.Errorf("reason %q", r.Reason)
		}
	}
}

// A context that is over ends the search; what has been found before stays.
func TestEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := Options{Workers: 1, Progress: func(p Progress) {
		if p.Stage == "exploring" && p.Done >= 32 {
			cancel()
		}
	}}
	r, err := Tune(ctx, configOf(t, spaces["uneven"]), narrow, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) == 0 || r.Reason == "" || r.Evaluated > 64 {
		t.Errorf("%d rows after %d points, reason %q", len(r.Rows), r.Evaluated, r.Reason)
	}
	for i := range r.Rows {
		checkRow(t, configOf(t, spaces["uneven"]), &r.Rows[i])
	}
}

// A search of a space of more than 100,000 points decodes one in a hundred of them at
// most, and comes to an end with most of the rest undecided or pruned.
func TestLargeSpace(t *testing.T) {
	space := cssr.Space{
		Chunks: []int{1, 2, 3, 4, 5, 6}, Groups: []int{0, 2, 3, 4, 6, 8}, InFlight: []float64{1, 1.25, 1.5, 1.75, 2, 3, 0},
		Patience: []int{0, 1, 2, 3, 4, 5, 6, 8}, Weights: []string{"fill", "deferred", "at-once", "by-type"},
	}
	r := tuned(t, spaces["uneven"], space, Options{Seed: 1, Workers: 2, Finalists: -1})
	if r.Points < 100000 || r.Evaluated > r.Points/100 {
		t.Errorf("%d of %d points decoded, want one in a hundred of at least 100,000", r.Evaluated, r.Points)
	}
	checkCounts(t, r)
	t.Logf("%d of %d points decoded, %d pruned: %g, the reference has %g", r.Evaluated, r.Points, r.Pruned, r.Rows[0].Value, r.Reference.Value)
}

// Words that are not known, and dimensions that a configuration does not have.
func TestSpaceErrors(t *testing.T) {
	costs := "devices: 2, micro_batches: 2, costs: {forward: 1, backward_input: 1, backward_weight: 1}"
	const noModel = "the configuration gives costs and no model; leave it out, or describe the model"
	for _, c := range []struct {
		space cssr.Space
		want  string
	}{
		{cssr.Space{Placements: []string{"spiral"}}, `placement: "spiral" is not known; use linear, loop, v`},
		{cssr.Space{Backwards: []string{"both"}}, `backward: "both" is not known; use split, fused, auto, configured`},
		{cssr.Space{Traversals: []string{"random"}}, `traversal: "random" is not known; use breadth-first, depth-first, wave`},
		{cssr.Space{Weights: []string{"never"}}, `weights: "never" is not known; use by-type, at-once, deferred, fill`},
		{cssr.Space{Vocabulary: []string{"passes"}}, "vocabulary: " + noModel},
		{cssr.Space{Partitions: []string{"even"}}, "partition: " + noModel},
		{cssr.Space{Recompute: []string{"full"}}, "recompute: " + noModel},
		{cssr.Space{MicroBatchSizes: []int{2}}, "micro-batch size: " + noModel},
	} {
		_, err := Tune(context.Background(), configOf(t, costs), c.space, Options{})
		if space := (*SpaceError)(nil); !errors.As(err, &space) || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// NVIDIA/Megatron-LM#1304: 30 equal layers on 4 devices. The best of the cuts with at
// most 8 layers in a stage has the heavy ones in the middle, and takes the time of 113
// layers, to which embedding and head, of a vocabulary of one token, add almost nothing.
func TestThirtyLayers(t *testing.T) {
	r := tuned(t, `devices: 4, micro_batches: 4, unit: s, model: {kind: gpt, layers: 30, hidden: 1000, heads: 1, sequence: 1, vocabulary: 1},
  cluster: {flops: 24004000, link_bandwidth: 1e18}`, cssr.Space{Placements: []string{"linear"}, Chunks: []int{1}}, Options{Seed: 1, Workers: 2})
	best := &r.Rows[0]
	if best.Value < 113 || best.Value > 113.01 || best.Result.Status != solve.Optimal {
		t.Errorf("%s: %g, %v; want 113 and a proof", best.Point.String(), best.Value, best.Result.Status)
	}
}
