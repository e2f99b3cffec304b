package benchmarks

import (
	"fmt"
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/solve"
)

// A vocabulary that two devices share in passes, solved to a proof. One micro-batch takes
// 2230 ns, and where memory holds a single one, each takes 1936 after another and the ends
// 294: the sums that the tests of package cssr work out. For two at once the value is that
// of the bound, which the link gives.
func TestVocabularyPasses(t *testing.T) {
	const text = `{version: 1, devices: 2, micro_batches: %d, unit: ns, memory: {limit: %s},
  model: {kind: gpt, layers: 2, hidden: 2, heads: 1, sequence: 2, feed_forward: 4, vocabulary: 6, vocabulary_sharding: passes},
  cluster: {flops: 1e9, link_bandwidth: 1e9, link_latency: 100}}`
	for _, c := range []struct {
		microBatches int
		limit        string
		want         int64
		proof        solve.Proof
	}{
		{1, "10MiB", 2230, solve.BoundProof},
		{2, "10MiB", 3068, solve.BoundProof},
		{3, "1500B", 3*1936 + 294, solve.CheckedProof},
		{4, "1500B", 4*1936 + 294, solve.CheckedProof},
	} {
		cfg, err := config.Decode(fmt.Appendf(nil, text, c.microBatches, c.limit), "passes.yaml")
		if err != nil {
			t.Fatal(err)
		}
		p, err := cssr.Build(cfg, cssr.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := solveCase(t, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Plan == nil {
			t.Fatalf("%d micro-batches: %s", c.microBatches, r.Reason)
		}
		value := p.Pipeline.TimeUnit.Rat(int64(r.Value))
		if !value.IsInt() || value.Num().Int64() != c.want {
			t.Errorf("%d micro-batches: %s ns, want %d", c.microBatches, value.RatString(), c.want)
		}
		if !testing.Short() && (r.Status != solve.Optimal || r.Proof != c.proof) {
			t.Errorf("%d micro-batches: %v, proof %q, want %q", c.microBatches, r.Status, r.Proof, c.proof)
		}
	}
}
