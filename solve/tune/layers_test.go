package tune

import (
	"os"
	"slices"
	"testing"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

var everyMode = []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull}

// What the tuner tries unasked has the layers and chunks that large vocabularies want,
// and recomputation for networks that package partition refuses.
func TestDefaultLayers(t *testing.T) {
	for _, c := range []struct {
		file   string
		chunks []int
		has    []layering
		lacks  layering
	}{
		{"million-vocabulary-gpt-4.yaml", []int{1, 2, 4, 8}, []layering{{Fit, Fit}, {"even", "none"}, {Configured, Configured}}, layering{"even", Fit}},
		{"million-vocabulary-gpt-8.yaml", []int{1, 2, 4, 5}, []layering{{Fit, Fit}, {"even", "full"}}, layering{Fit, "full"}},
		{"joint-branches.yaml", []int{1, 2, 4}, []layering{{"balanced", "full"}, {"even", "none"}}, layering{Fit, Fit}},
	} {
		cfg, err := config.Load(os.DirFS("../../examples"), c.file)
		if err != nil {
			t.Fatal(err)
		}
		if chunks := chunksOf(cfg); !slices.Equal(chunks, c.chunks) {
			t.Errorf("%s: chunks %v, want %v", c.file, chunks, c.chunks)
		}
		list := layersOf(cfg, &cssr.Space{}, everyMode)
		for _, l := range c.has {
			if !slices.Contains(list, l) {
				t.Errorf("%s: %v lacks %v", c.file, list, l)
			}
		}
		if slices.Contains(list, c.lacks) {
			t.Errorf("%s: %v has %v", c.file, list, c.lacks)
		}
	}
}

// Lists of a space are taken as they are, all with all.
func TestGivenLayers(t *testing.T) {
	cfg, err := config.Load(os.DirFS("../../examples"), "million-vocabulary-gpt-4.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := layersOf(cfg, &cssr.Space{Partitions: []string{Fit}, Recompute: []string{"full", Fit}}, everyMode)
	if want := []layering{{Fit, "full"}, {Fit, Fit}}; !slices.Equal(got, want) {
		t.Errorf("layers %v, want %v", got, want)
	}
	got = layersOf(cfg, &cssr.Space{Recompute: []string{"none"}}, everyMode)
	if want := []layering{{"even", "none"}, {Configured, "none"}, {Fit, "none"}}; !slices.Equal(got, want) {
		t.Errorf("layers %v, want %v", got, want)
	}
}
