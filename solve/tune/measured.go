package tune

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// checkMeasured tests that a space for measured layers asks for nothing that was not
// measured. modes are the ways to recompute that were.
func checkMeasured(cfg *config.Config, s *cssr.Space, modes []network.Recompute) error {
	if !cfg.Measured() {
		return nil
	}
	size := cfg.Model.MicroBatchSize
	for _, other := range s.MicroBatchSizes {
		if other != size {
			return &SpaceError{"micro-batch size", fmt.Sprintf("the layers were measured with %d samples, not %d", size, other), "leave it out, or measure them again"}
		}
	}
	for _, word := range s.Vocabulary {
		if word != string(config.VocabularyNone) {
			return &SpaceError{"vocabulary", "layers that all devices share were not measured", "leave it out, or give a cluster instead of the profile"}
		}
	}
	for _, word := range s.Recompute {
		if mode, err := network.ParseRecompute(word); err == nil && !slices.Contains(modes, mode) {
			return &SpaceError{"recompute", word + " was not measured", "leave it out, or measure the layers with it"}
		}
	}
	return nil
}
