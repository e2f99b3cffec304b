package lower_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/runtime/lower"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// example is a small plan whose programs are read by people: testdata/NAME.golden.
type example struct {
	name   string
	pl     *model.Pipeline
	orders []string
	waits  []string // pairs, such as "0F0 1F1"
}

// spec is a split pipeline of unit times whose forwards take 2, of which the input gradient
// gives back 1.
func spec(devices, microBatches int) modelgen.Spec {
	return modelgen.Spec{Devices: devices, MicroBatches: microBatches, Activation: []model.Bytes{2}, FreedByI: []model.Bytes{1}}
}

func fused(s modelgen.Spec) modelgen.Spec {
	s.Backward = model.Fused
	return s
}

func examples() []example {
	v := fused(spec(2, 2))
	v.Placement = [][]int{{0}, {1}, {1}, {0}}
	gang := fused(spec(3, 1))
	gang.Placement = [][]int{{0, 1}, {1, 2}}
	branches := fused(spec(3, 1))
	blocking := fused(spec(2, 2))
	blocking.Blocking, blocking.Latency = true, 1
	return []example{
		{name: "1f1b", pl: modelgen.Pipeline(spec(3, 3)), orders: []string{
			"0F0 0F1 0F2 0I0 0W0 0I1 0W1 0I2 0W2", "1F0 1F1 1I0 1W0 1F2 1I1 1W1 1I2 1W2", "2F0 2I0 2W0 2F1 2I1 2W1 2F2 2I2 2W2"}},
		{name: "v", pl: modelgen.Pipeline(v), orders: []string{
			"0F0 0F1 3F0 3B0 3F1 3B1 0B0 0B1", "1F0 2F0 1F1 2F1 2B0 1B0 2B1 1B1"}},
		{name: "gang", pl: modelgen.Pipeline(gang), orders: []string{"0F0 0B0", "0F0 1F0 1B0 0B0", "1F0 1B0"}},
		{name: "branches", pl: join(modelgen.Pipeline(branches)), orders: []string{"0F0 0B0", "1F0 1B0", "2F0 2B0"}},
		{name: "blocking", pl: modelgen.Pipeline(blocking), orders: []string{
			"0F0 0SEND_F0>1 0F1 1SEND_B0>0 0SEND_F1>1 0B0 1SEND_B1>0 0B1", "0SEND_F0>1 1F0 1B0 1SEND_B0>0 0SEND_F1>1 1F1 1B1 1SEND_B1>0"}},
		{name: "waits", pl: modelgen.Pipeline(fused(spec(2, 2))), waits: []string{"1F0 0F1", "1B0 0F1", "0F0 1F1"}, orders: []string{
			"0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"}},
		{name: "single", pl: single(modelgen.Pipeline(fused(spec(2, 2)))), orders: []string{
			"0F0 0F1 0B0 0B1 G", "1F0 1B0 1F1 1B1 G"}},
		{name: "engine", pl: offload(modelgen.Pipeline(fused(spec(1, 1)))), orders: []string{
			"0F0 0D_FREE0 0L_ALLOC0 0B0", "0D0 0L0"}},
		{name: "early", pl: modelgen.Pipeline(fused(spec(2, 2))), orders: []string{
			"0F0 0F1 0B1 0B0", "1F1 1F0 1B0 1B1"}},
	}
}

// join makes stages 0 and 1 two branches that meet in stage 2.
func join(pl *model.Pipeline) *model.Pipeline {
	pl.Stages[1].After, pl.Stages[2].After = nil, []int{0, 1}
	return pl
}

// single adds an operation of all devices that runs once, behind all backwards.
func single(pl *model.Pipeline) *model.Pipeline {
	pl.Operations = []model.Operation{{Name: "norm", Letter: "G", Stage: -1, Single: true, Devices: []int{0, 1}, Duration: 1,
		After: []model.Ref{{Kind: "backward", Stage: 0}, {Kind: "backward", Stage: 1}}}}
	return pl
}

// offload moves the activation of stage 0 away and back, on a copy engine.
func offload(pl *model.Pipeline) *model.Pipeline {
	pl.Devices = append(pl.Devices, model.Device{Name: "copy", Limit: model.Unlimited, Engine: true})
	pl.Operations = []model.Operation{
		{Name: "offload", Letter: "D", Stage: 0, Devices: []int{1}, Duration: 3, After: []model.Ref{{Kind: "forward", Stage: 0}}, Gives: 2},
		{Name: "reload", Letter: "L", Stage: 0, Devices: []int{1}, Duration: 3, Takes: 2,
			After: []model.Ref{{Kind: "offload", Stage: 0}}, Before: []model.Ref{{Kind: "backward", Stage: 0}}},
	}
	return pl
}

// plan reads the problem and the plan of an example.
func (e example) plan(t testing.TB) (*model.Problem, *model.Plan) {
	t.Helper()
	p, err := model.Compile(e.pl)
	if err != nil {
		t.Fatal(err)
	}
	parse := func(text string) []model.OpID {
		var ops []model.OpID
		for _, name := range strings.Fields(text) {
			op, err := p.ParseOp(name)
			if err != nil {
				t.Fatal(err)
			}
			ops = append(ops, op)
		}
		return ops
	}
	plan := &model.Plan{}
	for _, order := range e.orders {
		plan.Order = append(plan.Order, parse(order))
	}
	for _, wait := range e.waits {
		ops := parse(wait)
		plan.Waits = append(plan.Waits, model.Wait{Before: ops[0], After: ops[1]})
	}
	return p, plan
}

func (e example) lower(t testing.TB) *lower.Program {
	t.Helper()
	p, plan := e.plan(t)
	g, err := lower.Lower(p, plan)
	if err != nil {
		t.Fatalf("%s: %v", e.name, err)
	}
	return g
}

// called returns the programs of an example.
func called(t testing.TB, name string) *lower.Program {
	t.Helper()
	for _, e := range examples() {
		if e.name == name {
			return e.lower(t)
		}
	}
	t.Fatalf("no example is called %s", name)
	return nil
}

func TestPrograms(t *testing.T) {
	for _, e := range examples() {
		t.Run(e.name, func(t *testing.T) {
			g := e.lower(t)
			var got bytes.Buffer
			if err := g.Write(&got); err != nil {
				t.Fatal(err)
			}
			warnings, err := g.Check()
			if err != nil {
				t.Error(err)
			}
			for _, w := range warnings {
				got.WriteString("warning: " + w.Error() + "\n")
			}
			file := filepath.Join("testdata", e.name+".golden")
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("programs, -want +got\n%s", diff)
			}
		})
	}
}
