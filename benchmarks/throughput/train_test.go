package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/cpu"
	"github.com/flexpipe/flexpipe/runtime/profile"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// tinyNetworks are models whose operations take microseconds.
var tinyNetworks = []struct{ name, model string }{
	{"gpt", "{kind: gpt, layers: 6, hidden: 16, heads: 2, sequence: 8, vocabulary: 128, micro_batch_size: 2, dtype: fp32}"},
	{"mlp", "{kind: mlp, layers: 8, hidden: 16, micro_batch_size: 4, dtype: fp32}"},
	{"two-branch", "{kind: two-branch, loss: contrastive, micro_batch_size: 4, dtype: fp32, branches: " +
		"[{layers: 4, hidden: 16, heads: 2, sequence: 8}, {layers: 4, hidden: 16, heads: 2, sequence: 8, vocabulary: 128}]}"},
}

const tinyCluster = "cluster: {flops: 10e9, efficiency: 1, link_bandwidth: 5e9, link_latency: 30us}"

// tiny returns the configuration of a model.
func tiny(t *testing.T, devices int, model, costs string, files fstest.MapFS) *config.Config {
	t.Helper()
	text := fmt.Sprintf("version: 1\ndevices: %d\nmicro_batches: 4\nunit: us\nmodel: %s\n%s\n", devices, model, costs)
	all := fstest.MapFS{"tiny.yaml": {Data: []byte(text)}}
	for name, file := range files {
		all[name] = file
	}
	cfg, err := config.Load(all, "tiny.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestPlansTrain trains networks by every plan that this program can make for them: by each
// schedule of the literature that fits, found by heuristics and by exact search, and tuned.
func TestPlansTrain(t *testing.T) {
	fits := map[string]int{"gpt": 11, "mlp": 11, "two-branch": 0}
	for _, n := range tinyNetworks {
		for _, devices := range []int{2, 4} {
			if devices > 2 && testing.Short() {
				continue
			}
			cfg := tiny(t, devices, n.model, tinyCluster, nil)
			costs := tinyCosts(t, cfg)
			list := namedThatFit(t, cfg)
			if len(list) < fits[n.name] {
				t.Errorf("%s: only %d schedules of the literature fit %d devices, want %d", n.name, len(list), devices, fits[n.name])
			}
			for _, c := range append(list, searched(t, cfg)...) {
				t.Run(fmt.Sprintf("%s/%d/%s", n.name, devices, c.name), func(t *testing.T) { checkTraining(t, c, costs) })
			}
		}
	}
}

// namedThatFit returns the plans of the schedules that fit, in as few chunks as they need.
func namedThatFit(t *testing.T, cfg *config.Config) (list []*candidate) {
	t.Helper()
	for _, s := range heuristics.Schedules() {
		for chunks := 1; chunks <= 2; chunks++ {
			c, err := named(cfg, s.Name, chunks)
			var shape *heuristics.ShapeError
			var choice *cssr.ChoiceError
			if errors.As(err, &shape) || errors.As(err, &choice) {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			list = append(list, c)
			break
		}
	}
	return list
}

// searched returns the plans that searches find.
func searched(t *testing.T, cfg *config.Config) (list []*candidate) {
	t.Helper()
	add := func(c *candidate, err error) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	auto := model.Auto
	for name, mode := range map[string]portfolio.Mode{"exact": portfolio.Exact, "heuristic": portfolio.Heuristic, "portfolio": portfolio.Auto} {
		s := patient
		s.mode = mode
		add(s.solved(t.Context(), cfg, cssr.Choices{}, name))
		if mode == portfolio.Auto {
			add(s.solved(t.Context(), cfg, cssr.Choices{Backward: &auto}, "portfolio, halves or not"))
		}
	}
	slices.SortFunc(list, func(a, b *candidate) int { return strings.Compare(a.name, b.name) })
	var space cssr.Space
	if cfg.Model.HasVocabulary() {
		space.Vocabulary = []string{string(config.VocabularyNone)}
	}
	add(patient.tuned(t.Context(), cfg, space, "tuned"))
	return list
}

// tinyCosts measures the layers of a network with all ways of recomputation.
func tinyCosts(t *testing.T, cfg *config.Config) *profile.Costs {
	t.Helper()
	candidates, err := gaugesOf(t.Context(), cfg, []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull})
	if err != nil {
		t.Fatal(err)
	}
	list, err := openCPU(candidates, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(list)
	runs, err := pipert.Compare(t.Context(), contestants(list), pipert.Settings{Iterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	costs, err := gather(list, runs)
	if err != nil {
		t.Fatal(err)
	}
	return costs
}

// checkTraining makes five steps by a plan, and compares gradients, parameters and memory with
// what they have to be.
func checkTraining(t *testing.T, c *candidate, costs *profile.Costs) {
	const seed, steps = 7, 5
	list, err := openCPU([]*candidate{c}, seed)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(list)
	e := list[0]
	backend := e.backend.(*cpu.Backend)
	o := cpu.Options{Seed: seed}
	replay, err := cpu.Replay(c.problem, c.plan, e.network, o)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := cpu.Unpipelined(e.network, c.problem.MicroBatches(), o)
	if err != nil {
		t.Fatal(err)
	}
	for step := range steps {
		run, err := pipert.Train(t.Context(), contestants(list)[0], pipert.Settings{First: step, Iterations: 1})
		if err != nil {
			t.Fatal(err)
		}
		loss := iterate(t, replay, step)
		if math.Float64bits(run.Losses[0]) != math.Float64bits(loss) {
			t.Errorf("step %d: the loss is %v, that of the replay %v", step, run.Losses[0], loss)
		}
		if step == 0 {
			iterate(t, whole, step)
			checkGradients(t, c, backend.Parameters(), replay.Parameters(), whole.Parameters())
		}
		checkMemory(t, c, e.network, costs, run.Memory)
	}
	want := replay.Parameters()
	for i, p := range backend.Parameters() {
		if !sameBits(p.Value, want[i].Value) {
			t.Errorf("after %d steps %s of layer %d of part %d is not that of the replay", steps, p.Name, p.Layer, p.Part)
		}
	}
}

func iterate(t *testing.T, r *cpu.Reference, step int) float64 {
	t.Helper()
	loss, err := r.Iterate(context.Background(), step)
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

// checkGradients demands the gradients of the replay bit by bit, and those of the network
// without a pipeline: bit by bit where the sums have the same order, else but for rounding.
func checkGradients(t *testing.T, c *candidate, got, replay, whole []cpu.Parameter) {
	t.Helper()
	if len(got) == 0 || len(got) != len(replay) || len(got) != len(whole) {
		t.Fatalf("%d parameters, the replay has %d, the whole network %d", len(got), len(replay), len(whole))
	}
	bound := 1e-6
	if inOrder(c.problem, c.plan) {
		bound = 0
	}
	for i := range got {
		name := fmt.Sprintf("%s of layer %d of part %d", got[i].Name, got[i].Layer, got[i].Part)
		if !sameBits(got[i].Gradient, replay[i].Gradient) {
			t.Errorf("the gradient of %s is not that of the replay", name)
		}
		if d := distance(got[i].Gradient, whole[i].Gradient); !(d <= bound) {
			t.Errorf("the gradient of %s is %.3g away from that without a pipeline, want %g at most", name, d, bound)
		}
	}
}

// inOrder reports whether each stage adds up its gradients on one device, in the order of the
// micro-batches.
func inOrder(p *model.Problem, plan *model.Plan) bool {
	type place struct{ device, microBatch int }
	last := map[int]place{} // by stage
	for d, order := range plan.Order {
		for _, op := range order {
			row, now := p.Row(op), place{d, p.MicroBatch(op)}
			if row.Kind != model.BackwardWeight && row.Kind != model.BackwardFull {
				continue
			}
			if before, ok := last[row.Stage]; ok && (before.device != d || before.microBatch > now.microBatch) {
				return false
			}
			last[row.Stage] = now
		}
	}
	return true
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// distance returns |a-b| / |b|, 0 for equal vectors.
func distance(a, b []float32) float64 {
	diff, norm := 0.0, 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		diff += d * d
		norm += float64(b[i]) * float64(b[i])
	}
	if diff == 0 {
		return 0
	}
	return math.Sqrt(diff / norm)
}

// checkMemory demands that each device held to the byte what the measured costs predict, and
// what the stages need by themselves.
func checkMemory(t *testing.T, c *candidate, b *network.Blueprint, costs *profile.Costs, held []pipert.Memory) {
	t.Helper()
	measured, err := costs.Predict(c.problem, c.plan, b)
	if err != nil {
		t.Fatal(err)
	}
	var own []pipert.StageCosts
	for s := range b.Stages {
		bytes, err := cpu.Footprint(b, s)
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, pipert.StageCosts{Activation: bytes.Activation, FreedByInput: bytes.FreedByBackwardInput, Static: bytes.Static})
	}
	p, err := pipert.Retime(c.problem, own, 0)
	if err != nil {
		t.Fatal(err)
	}
	needed, err := pipert.Predict(p, c.plan, 1)
	if err != nil {
		t.Fatal(err)
	}
	for d, m := range held {
		byCosts, byStages := int64(measured.Metrics.Devices[d].Peak), int64(needed.Metrics.Devices[d].Peak)
		if m.Peak != byCosts || m.Peak != byStages || m.Live != 0 {
			t.Errorf("device %d held %d B, by costs %d, by its stages %d; %d left", d, m.Peak, byCosts, byStages, m.Live)
		}
	}
}

// TestProfileRoundTrip measures a network, writes the profile, plans with it under a limit that
// binds, and trains: devices hold what the plan says.
func TestProfileRoundTrip(t *testing.T) {
	for _, n := range tinyNetworks {
		t.Run(n.name, func(t *testing.T) {
			first := tiny(t, 2, n.model, tinyCluster, nil)
			file, err := measure(t.Context(), first, repeats{warmup: 1, iterations: 2}, 1)
			if err != nil {
				t.Fatal(err)
			}
			text, err := file.Encode()
			if err != nil {
				t.Fatal(err)
			}
			cfg := tiny(t, 2, n.model, "profile: tiny.json", fstest.MapFS{"tiny.json": {Data: text}})
			free, err := patient.solved(t.Context(), cfg, cssr.Choices{}, "without limit")
			if err != nil {
				t.Fatal(err)
			}
			most, err := free.need()
			if err != nil {
				t.Fatal(err)
			}
			limit := config.NewDecimal(most)
			c, err := patient.solved(t.Context(), withLimit(cfg, &limit), cssr.Choices{}, "within")
			if err != nil {
				t.Fatal(err)
			}
			costs, err := profile.FromFile(cfg.Profile)
			if err != nil {
				t.Fatal(err)
			}
			checkPlanned(t, c, costs)
		})
	}
}

// checkPlanned runs an iteration of a plan with measured costs, and demands the peaks that the
// plan itself promises. Those include the work space, for which a profile has what the greediest
// way of recomputation takes.
func checkPlanned(t *testing.T, c *candidate, costs *profile.Costs) {
	t.Helper()
	list, err := openCPU([]*candidate{c}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(list)
	run, err := pipert.Train(t.Context(), contestants(list)[0], pipert.Settings{Iterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	stages, err := costs.Stages(list[0].network)
	if err != nil {
		t.Fatal(err)
	}
	timeline, err := model.Evaluate(c.problem, c.plan)
	if err != nil {
		t.Fatal(err)
	}
	for d, device := range model.Measure(c.problem, c.plan, timeline).Devices {
		work := int64(0)
		for _, stage := range c.problem.StagesOn(d) {
			work += stages[stage].Work
		}
		m, want := run.Memory[d], c.problem.Pipeline.MemoryUnit.Rat(int64(device.Peak))
		if !want.IsInt() || m.Peak+work != want.Num().Int64() || m.Work > work {
			t.Errorf("device %d held %d B and %d B of work space, the plan says %s, of which %d B of work space", d, m.Peak, m.Work, want, work)
		}
	}
}
