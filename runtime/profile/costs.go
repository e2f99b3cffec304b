package profile

import (
	"fmt"
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// Costs are what the layers of a network, and messages between devices, take.
type Costs struct {
	// Layers has all layers in the order of the network's parts.
	Layers []pipert.LayerCosts
	// Solo are the layers measured while nothing else ran; nil if they were not.
	Solo []pipert.LayerCosts
	// Hops is the time in nanoseconds from the end of an operation to the start of one on
	// another device that waits for nothing else.
	Hops pipert.Quantiles
}

// Recomputations returns the ways of recomputation that stages of the blueprints use, in order.
func Recomputations(blueprints ...*network.Blueprint) []network.Recompute {
	var used [network.NumRecomputes]bool
	for _, b := range blueprints {
		for _, stage := range b.Stages {
			used[stage.Recompute] = true
		}
	}
	var ways []network.Recompute
	for way, is := range used {
		if is {
			ways = append(ways, network.Recompute(way))
		}
	}
	return ways
}

// Measured is a program that a backend has run on a network.
type Measured struct {
	Program *lower.Program
	Backend pipert.Profiler
	Run     *pipert.Run
}

// Gather puts together what one network took on several backends, at least one, which may
// have recomputed in different ways. Of times that several have measured the first counts, and
// messages are those of the first.
// Layers of equal sizes that follow each other in a part are taken to cost the same, which
// makes the medians steadier; but not the first of a part, which may have no gradient of its
// input to compute. It returns an error for a layer that did not run.
func Gather(list []Measured) (*Costs, error) {
	c := &Costs{Hops: pipert.Hops(list[0].Program, list[0].Run.Records), Layers: list[0].Backend.Layers()}
	for _, m := range list[1:] {
		for i, l := range m.Backend.Layers() {
			for way := range l.BackwardInput {
				if c.Layers[i].BackwardInput[way].N == 0 {
					c.Layers[i].BackwardInput[way] = l.BackwardInput[way]
				}
			}
		}
	}
	for i := range c.Layers {
		if c.Layers[i].Forward.N == 0 {
			return nil, fmt.Errorf("layer %s was not executed, so its costs are not known", c.Layers[i].Name)
		}
	}
	pool(c.Layers)
	return c, nil
}

// AddSolo adds what the layers took on a backend on which nothing else ran at the same time.
func (c *Costs) AddSolo(backend pipert.Profiler) {
	c.Solo = backend.Layers()
	pool(c.Solo)
}

// pool gives equal layers that follow each other the mean of their quantiles. The first layer
// of a part stays by itself: where it reads data, its backward input has a product less.
func pool(layers []pipert.LayerCosts) {
	for first := 0; first < len(layers); {
		starts := first == 0 || layers[first-1].Part != layers[first].Part
		end := first + 1
		for !starts && end < len(layers) && alike(&layers[first], &layers[end]) {
			end++
		}
		run := layers[first:end]
		poolOf(run, func(l *pipert.LayerCosts) *pipert.Quantiles { return &l.Forward })
		poolOf(run, func(l *pipert.LayerCosts) *pipert.Quantiles { return &l.BackwardWeight })
		for way := range run[0].BackwardInput {
			poolOf(run, func(l *pipert.LayerCosts) *pipert.Quantiles { return &l.BackwardInput[way] })
		}
		first = end
	}
}

// alike reports whether two layers have the same sizes.
func alike(a, b *pipert.LayerCosts) bool {
	return a.Part == b.Part && a.Activation == b.Activation && a.Retained == b.Retained && a.Selective == b.Selective &&
		a.Full == b.Full && a.Work == b.Work && a.SelectiveWork == b.SelectiveWork && a.FullWork == b.FullWork && a.Parameters == b.Parameters && a.Output == b.Output
}

// poolOf replaces a quantity of layers by its mean, weighted by the number of samples.
func poolOf(layers []pipert.LayerCosts, of func(*pipert.LayerCosts) *pipert.Quantiles) {
	var sum pipert.Quantiles
	for i := range layers {
		q := of(&layers[i])
		n := float64(q.N)
		sum.N += q.N
		sum.P10, sum.Median, sum.P90 = sum.P10+n*q.P10, sum.Median+n*q.Median, sum.P90+n*q.P90
	}
	if sum.N == 0 {
		return
	}
	n := float64(sum.N)
	for i := range layers {
		*of(&layers[i]) = pipert.Quantiles{N: sum.N, P10: sum.P10 / n, Median: sum.Median / n, P90: sum.P90 / n}
	}
}

// Stages returns the costs of the stages of a blueprint of the network, in 32-bit floats: sums
// over layers. It returns an error if the layers are those of another network, or a way of
// recomputation has not been measured.
func (c *Costs) Stages(b *network.Blueprint) ([]pipert.StageCosts, error) {
	if err := c.covers(b); err != nil {
		return nil, err
	}
	measured, partition, recompute, err := c.network(b)
	if err != nil {
		return nil, err
	}
	parts, err := measured.Parts()
	if err != nil {
		return nil, err
	}
	stages, err := network.PartStages(parts, network.Cluster{FLOPs: network.MeasuredRate}, partition, recompute)
	if err != nil {
		return nil, err
	}
	costs := make([]pipert.StageCosts, len(stages))
	for s := range stages {
		from := &stages[s]
		costs[s] = pipert.StageCosts{
			Forward: float64(from.Forward), BackwardInput: float64(from.BackwardInput),
			BackwardWeight: float64(from.BackwardWeight), BackwardFull: float64(from.BackwardFull()),
			Activation: from.Activation, FreedByInput: from.FreedByBackwardInput,
			Static: from.Static, Work: from.Workspace,
		}
	}
	return costs, nil
}

// covers tests that each layer that is there has been measured with the recomputation of its
// stage in a blueprint: without any where that one changes nothing in the network.
func (c *Costs) covers(b *network.Blueprint) error {
	net, err := b.Network()
	if err != nil {
		return err
	}
	ways, err := network.Recomputations(net)
	if err != nil {
		return err
	}
	for _, slice := range b.Stages {
		idle := !slices.Contains(ways, slice.Recompute)
		layers := c.ofPart(slice.Part)
		for i := slice.First; i < min(slice.End, len(layers)); i++ {
			input := &layers[i].BackwardInput
			if input[slice.Recompute].N == 0 && !(idle && input[network.RecomputeNone].N > 0) {
				return fmt.Errorf("recomputation %s of layer %s has not been measured", slice.Recompute, layers[i].Name)
			}
		}
	}
	return nil
}

// ofPart returns the layers of a part.
func (c *Costs) ofPart(part int) []pipert.LayerCosts {
	first := 0
	for first < len(c.Layers) && c.Layers[first].Part < part {
		first++
	}
	end := first
	for end < len(c.Layers) && c.Layers[end].Part == part {
		end++
	}
	return c.Layers[first:end]
}

// network returns the network of a blueprint with the measured layers, and how the blueprint
// cuts it.
func (c *Costs) network(b *network.Blueprint) (measured network.Measured, cut network.Partition, recompute []network.Recompute, err error) {
	exact := *b
	exact.DType = network.FP32
	if measured.Network, err = exact.Network(); err != nil {
		return measured, nil, nil, err
	}
	parts, err := measured.Network.Parts()
	if err != nil {
		return measured, nil, nil, err
	}
	for _, slice := range b.Stages {
		if parts[slice.Part].Seat == network.Dealt {
			cut, recompute = append(cut, slice.End-slice.First), append(recompute, slice.Recompute)
		}
	}
	for i := range c.Layers {
		l := &c.Layers[i]
		measured.Layers = append(measured.Layers, measurementOf(l, parts[l.Part].Name))
	}
	return measured, cut, recompute, nil
}

// measurementOf returns the costs of a layer as networks take them. Without a measurement that
// recomputes nothing the first way that was measured takes its place.
func measurementOf(l *pipert.LayerCosts, part string) network.Measurement {
	m := network.Measurement{
		Part: part, Name: l.Name,
		Forward: l.Forward.Median, BackwardWeight: l.BackwardWeight.Median,
		Activation: l.Activation, Retained: l.Retained, Work: l.Work,
	}
	for _, q := range l.BackwardInput {
		if q.N > 0 {
			m.BackwardInput = q.Median
			break
		}
	}
	m.Selective = checkpoint(l.Selective, l.SelectiveWork, l.BackwardInput[network.RecomputeSelective], m.BackwardInput)
	m.Full = checkpoint(l.Full, l.FullWork, l.BackwardInput[network.RecomputeFull], m.BackwardInput)
	return m
}

// checkpoint returns what recomputation keeps and takes beyond a backward input of so many
// nanoseconds; nil if it was not measured.
func checkpoint(bytes, work int64, q pipert.Quantiles, input float64) *network.Checkpoint {
	if q.N == 0 {
		return nil
	}
	return &network.Checkpoint{Bytes: bytes, FLOPs: max(0, q.Median-input), Work: work}
}

// Predict returns what a plan of a problem takes by the costs, whose network the blueprint cuts
// into the stages of the problem. Errors are those of [Costs.Stages], [pipert.Retime] and
// [pipert.Predict].
func (c *Costs) Predict(p *model.Problem, plan *model.Plan, b *network.Blueprint) (*pipert.Prediction, error) {
	stages, err := c.Stages(b)
	if err != nil {
		return nil, err
	}
	retimed, err := pipert.Retime(p, stages, c.Latency())
	if err != nil {
		return nil, err
	}
	return pipert.Predict(retimed, plan, 1)
}

// Latency returns what a message takes, in nanoseconds.
func (c *Costs) Latency() float64 { return c.Hops.Median }
