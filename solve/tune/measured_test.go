package tune

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// measuredText is a small network. On its cluster an operation takes a nanosecond, as
// measurements do.
const (
	measuredText = "devices: 2\nglobal_batch: 8\nunit: ns\nmodel: {kind: gpt, layers: 4, hidden: 16, heads: 2, sequence: 8, vocabulary: 256, micro_batch_size: 2, dtype: fp32}\n"
	measuredOn   = "cluster: {flops: 1e9, link_bandwidth: 1e9, link_latency: 1000}\n"
)

// formulaProfile returns measurements of the network of a configuration that equal its
// formulas.
func formulaProfile(t *testing.T, cfg *config.Config) *config.Profile {
	t.Helper()
	deal, err := cssr.NewDeal(cfg, cssr.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	took := func(ns float64) *config.Measurement {
		return &config.Measurement{Median: config.NewDecimal(int64(ns))}
	}
	p := &config.Profile{
		Unit: config.Nanosecond, MicroBatchSize: cfg.Model.MicroBatchSize,
		Link: &config.LinkProfile{Latency: cfg.Cluster.LinkLatency, Bandwidth: &cfg.Cluster.LinkBandwidth},
	}
	for _, l := range deal.Parts[0].Layers {
		p.Layers = append(p.Layers, config.LayerProfile{
			Name: l.Name,
			Durations: config.LayerDurations{
				Forward: *took(l.Forward), BackwardInput: took(l.BackwardInput), BackwardWeight: took(l.BackwardWeight),
				RecomputeSelective: took(l.Selective.FLOPs), RecomputeFull: took(l.Full.FLOPs),
			},
			Memory: config.LayerMemory{Activation: l.Activation, Retained: l.Retained, Selective: &l.Selective.Bytes, Full: &l.Full.Bytes},
		})
	}
	return p
}

// loadMeasured returns a configuration with a profile in place of the cluster.
func loadMeasured(t *testing.T, p *config.Profile) *config.Config {
	t.Helper()
	data, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(fstest.MapFS{
		"c.yaml": {Data: []byte("version: 1\n" + measuredText + "profile: p.json\n")}, "p.json": {Data: data},
	}, "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func decodeText(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg, err := config.Decode([]byte("version: 1\n"+text), "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestTuneMeasured: measurements that equal the formulas are tuned to the same rows.
func TestTuneMeasured(t *testing.T) {
	cfg := decodeText(t, measuredText+measuredOn)
	measured := loadMeasured(t, formulaProfile(t, cfg))
	rows := func(cfg *config.Config, space cssr.Space) []string {
		r, err := Tune(context.Background(), cfg, space, Options{Seed: 1, Workers: 2, Evaluations: 60, Top: 4, Finalists: -1})
		if err != nil {
			t.Fatal(err)
		}
		return rowTexts(r)
	}
	// What was not measured is no part of the space by formulas either.
	space := cssr.Space{Chunks: []int{1, 2}, Vocabulary: []string{"none"}, MicroBatchSizes: []int{2}}
	want := rows(cfg, space)
	if got := rows(measured, space); !slices.Equal(got, want) {
		t.Errorf("formulas\n%s\nmeasurements\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
	// Unasked, the tuner leaves it alone.
	for i := range want {
		want[i] = strings.Replace(want[i], " vocabulary=none", "", 1)
	}
	if got := rows(measured, cssr.Space{Chunks: []int{1, 2}}); !slices.Equal(got, want) {
		t.Errorf("formulas\n%s\nmeasurements, whole space\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

// TestMeasuredSpace: the tuner refuses what was not measured, and leaves it out unasked.
func TestMeasuredSpace(t *testing.T) {
	p := formulaProfile(t, decodeText(t, measuredText+measuredOn))
	for i := range p.Layers {
		p.Layers[i].Memory.Full, p.Layers[i].Durations.RecomputeFull = nil, nil
	}
	cfg := loadMeasured(t, p)
	for want, space := range map[string]cssr.Space{
		"micro-batch size: the layers were measured with 2 samples, not 4; leave it out, or measure them again":               {MicroBatchSizes: []int{2, 4}},
		"vocabulary: layers that all devices share were not measured; leave it out, or give a cluster instead of the profile": {Vocabulary: []string{"none", "stage"}},
		"recompute: full was not measured; leave it out, or measure the layers with it":                                       {Recompute: []string{"none", "full"}},
	} {
		_, err := newGrid(cfg, space, nil)
		var refusal *SpaceError
		if !errors.As(err, &refusal) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	g, err := newGrid(cfg, cssr.Space{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layersOf(cfg, &cssr.Space{}, g.modes) {
		if l.recompute == "full" {
			t.Errorf("the space has %v, which was not measured", l)
		}
	}
	if sizes := sizesOf(cfg); !slices.Equal(sizes, []int{2}) {
		t.Errorf("micro-batch sizes %v", sizes)
	}
}

// TestIdentity: problems of equal costs are one, whatever layers the stages hold.
func TestIdentity(t *testing.T) {
	of := func(network string, microBatches int) string {
		return identity(&model.Problem{Pipeline: &model.Pipeline{MicroBatches: microBatches, Network: network}})
	}
	if of("{}", 2) != of(`{"kind":"gpt"}`, 2) || of("{}", 2) == of("{}", 3) {
		t.Error("the identity of a problem is not that of its costs")
	}
}
