package cssr

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model/config"
)

// apply returns the configuration with the choices that replace a value of its network.
// It shares with cfg what they leave alone.
func (c *Choices) apply(cfg *config.Config) (*config.Config, error) {
	if cfg.Model == nil {
		return cfg, c.checkCosts(cfg)
	}
	if c.MicroBatchSize == 0 && c.Vocabulary == "" {
		return cfg, nil
	}
	chosen, net := *cfg, *cfg.Model
	chosen.Model = &net
	if err := c.setVocabulary(&chosen); err != nil {
		return nil, err
	}
	return &chosen, c.setMicroBatchSize(&chosen)
}

// checkCosts fails for choices that only a network allows.
func (c *Choices) checkCosts(cfg *config.Config) error {
	var choice string
	switch {
	case c.MicroBatchSize != 0:
		choice = fmt.Sprintf("micro-batch-size %d", c.MicroBatchSize)
	case c.Vocabulary != "":
		choice = "vocabulary " + c.Vocabulary
	case c.Partition != nil:
		choice = fmt.Sprintf("partition %v", c.Partition)
	case c.Recompute != nil:
		choice = fmt.Sprintf("recompute %v", c.Recompute)
	default:
		return nil
	}
	return (&ChoiceError{choice, "the costs are those of given stages", "describe a model on a cluster instead"}).
		at(cfg.Locate("costs", "profile"))
}

// setVocabulary sets where the layers over a vocabulary are computed.
func (c *Choices) setVocabulary(cfg *config.Config) error {
	if c.Vocabulary == "" {
		return nil
	}
	cfg.Model.VocabularySharding = config.VocabularySharding(c.Vocabulary)
	if cfg.Measured() && cfg.Model.VocabularySharding.Shared() {
		return vocabularyError(cfg, "layers that all devices share were not measured", "use none").at(cfg.Locate("profile"))
	}
	switch cfg.Model.VocabularySharding {
	case config.VocabularyNone:
		return nil
	case config.VocabularyStage, config.VocabularyPasses:
		switch {
		case !cfg.Model.HasVocabulary():
			return vocabularyError(cfg, "no part of the network has a vocabulary to share", "use none").at(cfg.Locate("model"))
		case c.Vocabulary == string(config.VocabularyPasses) && cfg.Model.Kind != config.GPT:
			return vocabularyError(cfg, "passes over the vocabulary are known for kind gpt only", "use stage").at(cfg.Locate("model.kind"))
		}
		return nil
	}
	return vocabularyError(cfg, "it is not known", "use none, stage or passes")
}

// vocabularyError returns a [ChoiceError] for the vocabulary sharding of cfg.
func vocabularyError(cfg *config.Config, problem, remedy string) *ChoiceError {
	return &ChoiceError{"vocabulary " + string(cfg.Model.VocabularySharding), problem, remedy}
}

// setMicroBatchSize sets the samples of a micro-batch and, with them, the number of
// micro-batches.
func (c *Choices) setMicroBatchSize(cfg *config.Config) error {
	size := c.MicroBatchSize
	if size == 0 {
		return nil
	}
	refuse := func(problem, remedy string) *ChoiceError {
		return &ChoiceError{fmt.Sprintf("micro-batch-size %d", size), problem, remedy}
	}
	count := cfg.GlobalBatch / max(size, 1)
	switch {
	case size < 1:
		return refuse("there must be at least 1 sample", "give a number from 1 up")
	case cfg.Measured() && size != cfg.Model.MicroBatchSize:
		return refuse(fmt.Sprintf("the layers were measured with %d", cfg.Model.MicroBatchSize), "measure them again with it").
			at(cfg.Locate("profile.micro_batch_size"))
	case cfg.GlobalBatch == 0:
		return refuse("the samples of an iteration are not known", "give global_batch").at(cfg.Locate("global_batch"))
	case cfg.GlobalBatch%size != 0:
		return refuse(fmt.Sprintf("%d samples do not divide into micro-batches of it", cfg.GlobalBatch), "use a divisor").
			at(cfg.Locate("global_batch"))
	case cfg.Factors != nil:
		return refuse("the micro-batches have factors, one for each", "give global_batch without micro_batches").
			at(cfg.Locate("micro_batches"))
	case count > config.MaxMicroBatches || cfg.Stages*count*4 > config.MaxOperations:
		return refuse(fmt.Sprintf("%d micro-batches are too many", count), "use a larger size").at(cfg.Locate("global_batch"))
	}
	cfg.Model.MicroBatchSize, cfg.MicroBatches = size, count
	return nil
}
