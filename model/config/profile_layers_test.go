package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// layerProfile is the profile of a network's layers.
const layerProfile = `{"format": "flexpipe/profile", "version": 1, "unit": "us", "micro_batch_size": 4,
"layers": [
 {"name": "block 0", "durations": {"forward": {"median": 10, "alone": 9}, "backward_weight": {"median": 7}, "recompute_full": {"median": 9.5}},
  "memory": {"activation": 100, "retained": 50, "full": 10, "work": "1KiB"}},
 {"part": "", "name": "block 1", "durations": {"forward": {"median": "1ms"}, "backward_input": {"median": 2}}, "memory": {"activation": 0, "retained": 0}}
],
"link": {"latency": 30, "bandwidth": 5e9},
"network": {"kind": "of \u003cits\u003e \ud83d\ude00\/ own", "numbers": [1, -2.5e3, true, null, "1"], "": {}}
}`

func TestLayerProfile(t *testing.T) {
	config := load(t, "layer profile")
	p := config.Profile
	if !config.Measured() || config.Costs != nil || config.Memory != nil || len(p.Layers) != 2 {
		t.Fatalf("model %v, costs %v, memory %v, %d layers", config.Model, config.Costs, config.Memory, len(p.Layers))
	}
	same(t, "0.03", config.Cluster.LinkLatency.String())
	same(t, "5000000000", config.Cluster.LinkBandwidth.String())
	first, second := p.Layers[0], p.Layers[1]
	same(t, "block 0", first.Name)
	same(t, 10_000., p.Nanoseconds(&first.Durations.Forward))
	same(t, 9_500., p.Nanoseconds(first.Durations.RecomputeFull))
	same(t, 0., p.Nanoseconds(first.Durations.BackwardInput))
	same(t, 1_000_000., p.Nanoseconds(&second.Durations.Forward))
	same(t, "9", first.Durations.Forward.Alone.String())
	same(t, int64(10), *first.Memory.Full)
	same(t, int64(1024), first.Memory.Work)
	same(t, `{"kind":"of <its> 😀/ own","numbers":[1,-2.5e3,true,null,"1"],"":{}}`, string(p.Network))
	text, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := DecodeProfile(text, "again")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, again); diff != "" {
		t.Errorf("decoded, encoded and decoded again:\n%s", diff)
	}
}
