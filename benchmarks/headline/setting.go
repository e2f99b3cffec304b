package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// instance is a configuration to compare on.
type instance struct {
	file string // in the folder of examples
	what string // one line for people
}

var instances = []instance{
	{"million-vocabulary-gpt-4.yaml", "GPT, 32 layers of hidden size 4096, vocabulary 1,024,000, 4 devices"},
	{"million-vocabulary-gpt-8.yaml", "GPT, 40 layers of hidden size 6144, vocabulary 1,024,000, 8 devices"},
	{"two-branch.yaml", "CLIP ViT-L/14: image and text transformer, 4 devices"},
	{"joint-branches.yaml", "FLAVA: image and text transformer, joint transformer, 8 devices"},
}

// load reads the configuration of an instance.
func (in *instance) load(folder string) (*config.Config, error) {
	return config.Load(os.DirFS(folder), in.file)
}

// setting is what all planners of a comparison are given: a network on a cluster,
// a batch, and the memory of the devices.
type setting struct {
	cfg   *config.Config
	chain bool // the network is one chain of layers
}

// memory says which memory limits the devices have.
type memory string

const (
	unlimited  memory = "none"       // none
	equal      memory = "equal"      // what 1F1B with equal layers needs, recomputing as configured
	configured memory = "configured" // those of the configuration
)

// newSetting returns a configuration with another number of micro-batches of the same
// size, and other memory limits.
func newSetting(ctx context.Context, cfg *config.Config, microBatches int, m memory) (*setting, error) {
	if unitSeconds[string(cfg.Unit)] == 0 {
		return nil, fmt.Errorf("its unit %q is no unit of time, use us", cfg.Unit)
	}
	c := *cfg
	c.MicroBatches = microBatches
	if c.GlobalBatch > 0 {
		c.GlobalBatch = microBatches * c.Model.MicroBatchSize
	}
	s := &setting{cfg: &c, chain: c.Model.Kind == config.GPT}
	if m == configured {
		return s, nil
	}
	s.limit(nil)
	if m == unlimited {
		return s, nil
	}
	need, err := s.need(ctx)
	if err != nil {
		return nil, err
	}
	limit := config.NewDecimal(need)
	s.limit(&limit)
	return s, nil
}

// limit gives all devices a memory limit, nil for none.
func (s *setting) limit(limit *config.Decimal) {
	s.cfg.Devices = slices.Clone(s.cfg.Devices)
	for d := range s.cfg.Devices {
		s.cfg.Devices[d].Limit = limit
	}
}

// need returns the bytes of the device that holds most under 1F1B with equal layers,
// recomputing as configured.
func (s *setting) need(ctx context.Context) (int64, error) {
	choices, err := s.cut(ctx, even, "", 1, network.RecomputeNone)
	if err != nil {
		return 0, err
	}
	choices.Recompute = nil
	return s.largest(ctx, choices, func(_ *model.Problem, m *model.Metrics, d int) model.Bytes { return m.Devices[d].Peak })
}

// limitText words the memory limit of the devices, which is the same for all.
func (s *setting) limitText() (string, error) {
	p, err := cssr.Build(s.cfg, cssr.Choices{})
	if err != nil {
		return "", err
	}
	if p.Limits[0] == model.Unlimited {
		return "no limit", nil
	}
	return fmt.Sprintf("%.1f GiB", float64(inBytes(p, p.Limits[0]))/gibibyte), nil
}

const gibibyte = 1 << 30

// layers returns the number of repeated layers.
func (s *setting) layers() int { return s.cfg.Model.Layers() }

// deal returns what a partition of whole layers has to cut, embedding and head
// among them.
func (s *setting) deal(choices cssr.Choices) (*cssr.Deal, error) { return cssr.NewDeal(s.cfg, choices) }

// layerTime returns the work of one block for a micro-batch, in seconds, the average
// of different ones, when nothing is recomputed.
func (s *setting) layerTime() (float64, error) {
	deal, err := s.deal(cssr.Choices{})
	if err != nil {
		return 0, err
	}
	sum, n := 0.0, 0
	for _, part := range deal.Parts {
		for i := range part.Layers {
			if part.Layers[i].Kind == network.Block {
				sum += part.Layers[i].Cost(network.RecomputeNone).FLOPs()
				n++
			}
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("the network has no repeated layers")
	}
	d, err := deal.Cluster.Duration(sum / float64(n))
	return d.Seconds(), err
}

// seconds returns ticks of the problem of a setting.
func seconds(p *model.Problem, t model.Time) float64 {
	n, _ := p.TimeUnit().Rat(int64(t)).Float64()
	return n * unitSeconds[p.TimeUnit().Name]
}

var unitSeconds = map[string]float64{"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

// inBytes returns an amount of memory in bytes, rounded up.
func inBytes(p *model.Problem, b model.Bytes) int64 {
	r := p.Pipeline.MemoryUnit.Rat(int64(b))
	n := r.Num().Int64() / r.Denom().Int64()
	if !r.IsInt() {
		n++
	}
	return n
}
