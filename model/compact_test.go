package model_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// encode returns the plan file of a plan.
func encode(t testing.TB, f *model.PlanFile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// orderLines returns the lines of a plan file that hold orders.
func orderLines(t testing.TB, f *model.PlanFile) []string {
	t.Helper()
	_, rest, _ := strings.Cut(string(encode(t, f)), `"order": [`)
	orders, _, _ := strings.Cut(rest, "\n  ]")
	return strings.Split(strings.TrimSpace(orders), "\n")
}

func TestCompactOneForwardOneBackward(t *testing.T) {
	p := modelgen.Unit(4, 24)
	got := orderLines(t, &model.PlanFile{Problem: p, Plan: modelgen.OneForwardOneBackward(p), Orders: model.CompactOrders})
	want := []string{
		`["0F0","0F1","0F2",{"period":["0F3","0I0","0W0"],"step":1,"count":21},"0I21","0W21","0I22","0W22","0I23","0W23"],`,
		`    ["1F0","1F1",{"period":["1F2","1I0","1W0"],"step":1,"count":22},"1I22","1W22","1I23","1W23"],`,
		`    ["2F0",{"period":["2F1","2I0","2W0"],"step":1,"count":23},"2I23","2W23"],`,
		`    [{"period":["3F0","3I0","3W0"],"step":1,"count":24}]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("orders:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestCompactSize bounds the size of the orders of regular schedules: it must
// not grow with the micro-batches.
func TestCompactSize(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     *model.Problem
		order func(*model.Problem) *model.Plan
		most  int // bytes of all orders
	}{
		{"1F1B", modelgen.Unit(8, 8192), modelgen.OneForwardOneBackward, 8 * 250},
		{"GPipe", modelgen.Unit(8, 8192), allForwardAllBackward, 8 * 150},
		{"interleaved", interleavedProblem(4, 2, 8192), interleaved, 4 * 700},
		{"two ways", twoWays(t, 8192, false), allForwardAllBackward, 2 * 300},
	} {
		f := &model.PlanFile{Problem: c.p, Plan: c.order(c.p)}
		if size := len(strings.Join(orderLines(t, f), "")); size > c.most {
			t.Errorf("%s: the orders take %d bytes, want at most %d", c.name, size, c.most)
		}
		f.Orders = model.CompactOrders
		roundTrip(t, f)
	}
}

// allForwardAllBackward runs each device's rows one after the other, the
// backward ones interleaved and from the last micro-batch to the first.
func allForwardAllBackward(p *model.Problem) *model.Plan {
	plan := &model.Plan{Order: make([][]model.OpID, p.NumDevices())}
	for d, rows := range p.RowsOn {
		for m := range p.MicroBatches() {
			for _, r := range rows {
				if row := &p.Rows[r]; row.Kind == model.Forward && onRoute(p, row, m) {
					plan.Order[d] = append(plan.Order[d], p.Op(int(r), m))
				}
			}
		}
		for m := p.MicroBatches() - 1; m >= 0; m-- {
			for _, r := range rows {
				if row := &p.Rows[r]; row.Kind != model.Forward && onRoute(p, row, m) {
					plan.Order[d] = append(plan.Order[d], p.Op(int(r), m))
				}
			}
		}
	}
	return plan
}

func onRoute(p *model.Problem, row *model.Row, microBatch int) bool {
	return p.Pipeline.Routes == nil || p.Pipeline.Routes[microBatch] == row.Route
}

func interleavedProblem(devices, chunks, microBatches int) *model.Problem {
	return modelgen.Problem(modelgen.Spec{
		Devices: devices, MicroBatches: microBatches, Backward: model.Fused,
		Placement: model.LoopPlacement(devices*chunks, devices),
	})
}

// interleaved returns the interleaved 1F1B order of a fused problem in loop
// placement (Narayanan et al. 2021, section 2.2).
func interleaved(p *model.Problem) *model.Plan {
	n := p.NumDevices()
	chunks, all := len(p.Pipeline.Stages)/n, p.MicroBatches()*len(p.Pipeline.Stages)/n
	plan := &model.Plan{Order: make([][]model.OpID, n)}
	for d := range n {
		op := func(k int, backward bool) model.OpID {
			chunk, m := k/n%chunks, k/(n*chunks)*n+k%n
			row := 2 * (chunk*n + d)
			if backward {
				row = 2*((chunks-1-chunk)*n+d) + 1
			}
			return p.Op(row, m)
		}
		warm := min(2*(n-1-d)+(chunks-1)*n, all)
		for k := range all + warm {
			if k < all {
				plan.Order[d] = append(plan.Order[d], op(k, false))
			}
			if k >= warm {
				plan.Order[d] = append(plan.Order[d], op(k-warm, true))
			}
		}
	}
	return plan
}

func BenchmarkCompact(b *testing.B) {
	p := modelgen.Unit(64, 4096)
	f := &model.PlanFile{Problem: p, Plan: modelgen.OneForwardOneBackward(p)}
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		if err := f.Encode(&out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(p.NumOps()), "ns/operation")
	b.ReportMetric(float64(out.Len()), "bytes")
}

// BenchmarkCompactRandom measures the search where there is nothing to find.
func BenchmarkCompactRandom(b *testing.B) {
	p := modelgen.Unit(4, 8192)
	f := &model.PlanFile{Problem: p, Plan: shuffled(p, 1)}
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		if err := f.Encode(&out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(p.NumOps()), "ns/operation")
}
