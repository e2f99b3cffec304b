package cssr

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
)

// The operations of passes over a shared vocabulary. Those on a device run beside a
// stage of it; the collectives are on a link of their own and belong to no stage.
//
//	all-reduce of the embedding -> forward of the first stage
//	forward of the last stage -> broadcast -> scores on each device -> all-reduce of
//	their statistics -> gradient of the input on each device -> reduce -> backward of
//	the last stage
//	gradient of the input on a device -> gradient of the weights there
//	gradient from the first stage -> broadcast to the embedding
//
// The look-up in the embedding and the gradient of its weights take so little time that
// they count with their collectives. The gradient of the weights runs apart, as
// backward weight does, unless backward passes are fused.
const (
	embedPass      = "vocabulary_embed"     // collective
	broadcastPass  = "vocabulary_broadcast" // collective
	scorePass      = "vocabulary_score"
	statisticsPass = "vocabulary_statistics" // collective
	inputPass      = "vocabulary_input"
	reducePass     = "vocabulary_reduce" // collective
	weightPass     = "vocabulary_weight"
	returnPass     = "vocabulary_return" // collective
)

var passLetters = map[string]string{
	embedPass: "VE", broadcastPass: "VB", scorePass: "VS", statisticsPass: "VC",
	inputPass: "VI", reducePass: "VR", weightPass: "VW", returnPass: "VG",
}

// passLink is the name of the engine on which the collectives run.
const passLink = "vocabulary link"

// addPasses adds the operations of a vocabulary that all devices share in passes (Yeung
// et al., arXiv:2411.05288, Algorithm 1), and the shares of its parameters.
func (d *draft) addPasses(cfg *config.Config, l *layout) error {
	if cfg.Model == nil || cfg.Model.VocabularySharding != config.VocabularyPasses {
		return nil
	}
	beside, err := l.stageOnEach(cfg)
	if err != nil {
		return err
	}
	net, err := Network(cfg.Model, len(cfg.Devices))
	if err != nil {
		return refuseNetwork(cfg, err)
	}
	passes, err := net.(network.GPT).Passes()
	if err != nil {
		return refuseNetwork(cfg, err)
	}
	p := &passDraft{draft: d, cfg: cfg, costs: &passes, beside: beside, link: len(cfg.Devices) + len(d.engines)}
	d.engines = append(d.engines, passLink)
	p.add(l.stages() - 1)
	if p.err != nil {
		return refuseNetwork(cfg, p.err)
	}
	return nil
}

// stageOnEach returns the first stage on each device.
func (l *layout) stageOnEach(cfg *config.Config) ([]int, error) {
	refuse := func(problem, remedy string) ([]int, error) {
		return nil, vocabularyError(cfg, problem, remedy).at(cfg.Locate("placement", "stages", "devices"))
	}
	if len(l.further) > 0 {
		return refuse("the stages have several routes", "use a single one, or vocabulary stage")
	}
	beside := slices.Repeat([]int{-1}, len(cfg.Devices))
	for s, gang := range l.devices {
		if len(gang) > 1 {
			return refuse(fmt.Sprintf("stage %d sits on a gang of %d devices", s, len(gang)), "place each stage on one device")
		}
		if beside[gang[0]] < 0 {
			beside[gang[0]] = s
		}
	}
	if idle := slices.Index(beside, -1); idle >= 0 {
		return refuse(fmt.Sprintf("device %d has no stage beside which its share can run", idle), "give it a stage, or use vocabulary stage")
	}
	return beside, nil
}

// passDraft collects the passes. The first error sticks.
type passDraft struct {
	*draft
	cfg    *config.Config
	costs  *network.VocabularyPasses
	beside []int // by device: the stage beside which its share runs
	link   int
	err    error
}

// add adds the operations; last is the last stage.
func (p *passDraft) add(last int) {
	cluster := clusterOf(p.cfg.Cluster)
	cluster.LinkLatency = startUp(p.cfg)
	work := func(flops float64) time.Duration { return p.time(cluster.Duration(flops)) }
	exchange := func(e network.Exchange) time.Duration { return p.time(cluster.Exchange(e, len(p.cfg.Devices))) }
	c, forward := p.costs, model.Forward.String()
	input := c.Input
	on := func(name string) []model.Ref { return []model.Ref{{Kind: name, Stage: -1}} }
	at := func(kind string, stage int) []model.Ref { return []model.Ref{{Kind: kind, Stage: stage}} }

	p.collective(embedPass, work(input.Forward)+exchange(input.Exchanged[0]), nil, at(forward, 0))
	p.collective(broadcastPass, exchange(c.Broadcast), at(forward, last), nil)
	p.collective(statisticsPass, exchange(c.Statistics), p.everywhere(scorePass), nil)
	p.collective(reducePass, exchange(c.Reduce), p.everywhere(inputPass), at(model.Backward, last))
	p.collective(returnPass, work(input.BackwardWeight)+exchange(c.Broadcast), at(model.BackwardInput.String(), 0), nil)

	for device, stage := range p.beside {
		fused := p.stages[stage].mode == model.Fused
		score, gradient := work(c.S), work(c.T/2)
		if fused {
			gradient = work(c.T)
		}
		p.share(scorePass, device, score, on(broadcastPass), c.Activation, 0)
		if fused {
			p.share(inputPass, device, gradient, on(statisticsPass), 0, c.Activation)
		} else {
			p.share(inputPass, device, gradient, on(statisticsPass), 0, 0)
			p.share(weightPass, device, gradient, at(inputPass, stage), 0, c.Activation)
		}
		held := new(big.Rat).SetInt64(c.Static + input.Parameters*input.StateBytes)
		p.stages[stage].sizes[static] = held.Add(held, p.stages[stage].sizes[static])
	}
}

// time keeps the first error.
func (p *passDraft) time(t time.Duration, err error) time.Duration {
	if p.err == nil {
		p.err = err
	}
	return t
}

// everywhere refers to a pass on all devices.
func (p *passDraft) everywhere(name string) []model.Ref {
	refs := make([]model.Ref, len(p.beside))
	for device, stage := range p.beside {
		refs[device] = model.Ref{Kind: name, Stage: stage}
	}
	return refs
}

// collective adds an operation on the link.
func (p *passDraft) collective(name string, t time.Duration, after, before []model.Ref) {
	p.operation(name, -1, []int{p.link}, t, after, before, 0, 0)
}

// share adds an operation on a device, slowed down as its stage is.
func (p *passDraft) share(name string, device int, t time.Duration, after []model.Ref, takes, gives int64) {
	p.operation(name, p.beside[device], nil, t, after, nil, takes, gives)
	own := &p.operations[len(p.operations)-1]
	own.duration = new(big.Rat).Mul(own.duration, p.cfg.Devices[device].Slowdown.Rat())
}

func (p *passDraft) operation(name string, stage int, devices []int, t time.Duration, after, before []model.Ref, takes, gives int64) {
	p.operations = append(p.operations, draftOperation{
		entry: -1,
		whole: model.Operation{Name: name, Letter: passLetters[name], Stage: stage, Devices: devices},
		after: waitsFor(after), before: waitsFor(before), duration: inUnitOf(p.cfg, t),
		takes: new(big.Rat).SetInt64(takes), gives: new(big.Rat).SetInt64(gives),
	})
}

// waitsFor returns waits without lag.
func waitsFor(refs []model.Ref) []draftWait {
	if refs == nil {
		return nil
	}
	return []draftWait{{refs: refs, lag: new(big.Rat), at: site{keys: "model"}}}
}
