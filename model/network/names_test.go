package network_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/model/network"
)

func TestNames(t *testing.T) {
	for _, d := range []network.DType{network.BF16, network.FP16, network.FP32} {
		if got, err := network.ParseDType(d.String()); got != d || err != nil {
			t.Errorf("dtype %v reads back as %v, %v", d, got, err)
		}
	}
	for _, r := range []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull} {
		if got, err := network.ParseRecompute(r.String()); got != r || err != nil {
			t.Errorf("recompute %v reads back as %v, %v", r, got, err)
		}
	}
	if d, err := network.ParseDType("int8"); err == nil {
		t.Errorf("int8 reads as %v, want an error", d)
	}
	if r, err := network.ParseRecompute("some"); err == nil {
		t.Errorf("some reads as %v, want an error", r)
	}
	for want, s := range map[string]interface{ String() string }{
		"block": network.Block, "embedding": network.Embedding, "head": network.Head, "join": network.Join,
		"LayerKind(7)": network.LayerKind(7), "DType(7)": network.DType(7), "Recompute(7)": network.Recompute(7),
	} {
		if got := s.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
