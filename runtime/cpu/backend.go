package cpu

import (
	"github.com/flexpipe/flexpipe/model/network"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// Options say how to train.
type Options struct {
	Seed      uint64 // of parameters and data
	Optimizer AdamW  // the zero value stands for DefaultAdamW
	Timed     bool   // measure each call of a layer, see Backend.Times
	Memory    int64  // bytes that Open may plan with; 0 stands for those of the machine
}

// Backend trains the network of a program. See [Open].
type Backend struct {
	*trainer
	program *lower.Program
	devices []*device
	seats   [][]seat // by stage and route
	ledger  ledger   // what layers took
	pool    *tensorPool

	outputs, gradients lane // what stages have put out and their readers have not read yet
}

// seat is where a stage runs on a route.
type seat struct {
	device int
	stage  *stage
}

// Open builds the stages of a program on its devices, with parameters that depend on the seed
// and on the place of a layer in the network, not on how layers are cut into stages.
//
// It trains kinds gpt, mlp and two-branch without a joint stack. Errors: *UnsupportedError
// for what it cannot train, *SizeError for what does not fit into memory, *BlueprintError if
// the blueprint contradicts the pipeline, and those of the network's sizes.
func Open(program *lower.Program, b *network.Blueprint, o Options) (*Backend, error) {
	oneCore()
	l, err := newLayout(b)
	if err != nil {
		return nil, err
	}
	p := program.Problem
	if err := l.fits(p); err != nil {
		return nil, err
	}
	plans, memory := copyPlans(p.Pipeline), o.Memory
	if memory == 0 {
		memory = machineMemory()
	}
	if err := l.affordable(plans, p.MicroBatches(), memory); err != nil {
		return nil, err
	}
	backend := &Backend{
		program: program, pool: newTensorPool(),
		outputs:   newLane("output", len(l.stages), p.MicroBatches()),
		gradients: newLane("gradient of the output", len(l.stages), p.MicroBatches()),
	}
	for d := range program.Devices {
		backend.devices = append(backend.devices, newDevice(backend, d))
	}
	backend.trainer = newTrainer(l, p.MicroBatches(), backend.homes(plans), o)
	backend.seats = make([][]seat, len(l.stages))
	for s := range plans {
		for _, c := range plans[s].byRoute {
			backend.seats[s] = append(backend.seats[s], seat{plans[s].devices[c], backend.copies[s][c]})
		}
	}
	for _, d := range backend.devices {
		d.measure()
	}
	return backend, nil
}

// homes returns the home of each copy of a stage.
func (b *Backend) homes(plans []copyPlan) [][]*home {
	homes := make([][]*home, len(plans))
	for s := range plans {
		for _, d := range plans[s].devices {
			homes[s] = append(homes[s], &b.devices[d].home)
		}
	}
	return homes
}

// Name returns "cpu".
func (b *Backend) Name() string { return "cpu" }

// Devices returns the devices of the program.
func (b *Backend) Devices() []pipert.Device {
	list := make([]pipert.Device, len(b.devices))
	for d := range b.devices {
		list[d] = b.devices[d]
	}
	return list
}

// Begin makes the data of an iteration and clears all gradients. It also clears what an
// iteration that failed has left behind.
func (b *Backend) Begin(iteration int) error {
	b.outputs.restart()
	b.gradients.restart()
	for _, d := range b.devices {
		d.home.memory.restart()
	}
	b.trainer.begin(iteration)
	return nil
}

// Finish returns the mean loss over the micro-batches and what devices held, adds up the
// gradients of a stage's copies and makes an optimizer step. The error is a *NonFiniteError.
func (b *Backend) Finish() (pipert.Step, error) {
	b.ledger.add(b.trainer.times(), b.layout.blueprint.Stages)
	loss, err := b.trainer.finish()
	step := pipert.Step{Loss: loss}
	for _, d := range b.devices {
		step.Memory = append(step.Memory, pipert.Memory{
			Static: d.static, Work: int64(len(d.home.work)) * elementBytes,
			Peak: d.static + d.home.memory.peak, Live: d.home.memory.live,
		})
	}
	return step, err
}

// deviceOf returns the device on which a stage runs a micro-batch.
func (b *Backend) deviceOf(s, m int) int {
	route := 0
	if routes := b.program.Problem.Pipeline.Routes; routes != nil {
		route = routes[m]
	}
	return b.seats[s][route].device
}

// Close has nothing to give back: memory is that of Go.
func (b *Backend) Close() error { return nil }

// Parameters returns all parameters, by part, layer and the order in the layer. Of a stage
// with several copies it returns the first; they are equal between iterations.
func (b *Backend) Parameters() []Parameter { return b.trainer.parameters() }

// Times returns what each call of a layer took in the last iteration, by stage and in the
// order in which they ran; nil unless Options.Timed.
func (b *Backend) Times() []LayerTime { return b.trainer.times() }
