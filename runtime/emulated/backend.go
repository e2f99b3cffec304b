package emulated

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/flexpipe/flexpipe/model"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// Options say how time passes.
type Options struct {
	Tick     time.Duration // what a tick lasts; above 0 where the problem's unit is a tick, else ignored
	Dilation float64       // multiplies all times; 0: 1
	Anchored bool          // operations end when the prediction says: for demonstrations
}

// Backend has the devices of a program. It trains nothing.
type Backend struct {
	program    *lower.Program
	options    Options
	perTick    float64
	devices    []pipert.Device
	processors int // GOMAXPROCS as it was; 0 if it was not changed

	clock    clock
	arrives  []int64 // by message: when it is there
	latency  []int64 // by message: how long it is under way
	earlier  map[int32][]earlier
	timeline *model.Timeline
	anchor   atomic.Int64 // when the prediction starts; 0: not yet
}

// spareProcessors is how many processors Go may use beside one for each device. A device that
// waits in the kernel keeps its processor until the scheduler takes it away, which takes it up
// to 10 ms.
const spareProcessors = 4

// Open returns the devices of a program. Until Close the whole process may use a processor
// for each device and a few more ([runtime.GOMAXPROCS]), as they block their threads.
// Errors: those of [Scale]; times beyond 292 years; of an anchored backend, orders that
// [model.Evaluate] refuses. Cost O(operations + messages).
func Open(program *lower.Program, o Options) (*Backend, error) {
	if o.Dilation == 0 {
		o.Dilation = 1
	}
	p := program.Problem
	perTick, err := Scale(p, o.Tick, o.Dilation)
	if err != nil {
		return nil, err
	}
	b := &Backend{program: program, options: o, perTick: perTick, clock: newClock()}
	if err := b.checkLength(); err != nil {
		return nil, err
	}
	if o.Anchored {
		if b.timeline, err = model.Evaluate(p, program.Plan); err != nil {
			return nil, err
		}
	}
	b.arrives, b.latency = make([]int64, len(program.Messages)), make([]int64, len(program.Messages))
	for i := range program.Messages {
		b.latency[i] = b.ticks(latency(p, &program.Messages[i]))
	}
	b.findEarlier()
	delays := localDelays(p)
	for range p.NumDevices() {
		d := &device{backend: b, delays: delays}
		if delays != nil || b.earlier != nil {
			d.ended = make([]int64, p.NumOps())
		}
		b.devices = append(b.devices, d)
	}
	if before, want := runtime.GOMAXPROCS(0), p.NumDevices()+spareProcessors; before < want {
		b.processors = before
		runtime.GOMAXPROCS(want)
	}
	return b, nil
}

// checkLength refuses programs whose times no clock can hold, even end to end.
func (b *Backend) checkLength() error {
	p, total := b.program.Problem, 0.0
	for _, order := range b.program.Plan.Order {
		for _, op := range order {
			total += float64(p.Duration(op)) * b.perTick
		}
	}
	for i := range b.program.Messages {
		total += float64(latency(p, &b.program.Messages[i])) * b.perTick
	}
	if total > math.MaxInt64/2 {
		return fmt.Errorf("emulated: operations of %.3g s in all with a dilation of %v: choose a smaller one", total/1e9, b.options.Dilation)
	}
	return nil
}

// ticks is a time of the problem in nanoseconds.
func (b *Backend) ticks(t model.Time) int64 { return int64(math.Round(float64(t) * b.perTick)) }

// latency is how long a message is under way: what its consumer waits after the end of its
// producer.
func latency(p *model.Problem, m *lower.Message) model.Time {
	longest := model.Time(0)
	producer := p.RowOf(m.Producer)
	for _, pred := range p.Row(m.Consumer).Preds {
		if int(pred.Row) == producer || int(p.Rows[pred.Row].Twin) == producer {
			longest = max(longest, pred.Lag)
		}
	}
	return longest
}

// earlier is an operation on the device of a message's producer that the consumer waits for,
// too, and for longer after its end. No message tells of it: when the producer has ended, it
// has.
type earlier struct {
	op  model.OpID
	lag int64 // nanoseconds
}

// findEarlier looks for such operations. Few problems have one. It may list some that come
// after the producer, or that the plan does not hold: those have not ended when it is sent.
func (b *Backend) findEarlier() {
	p := b.program.Problem
	for i := range b.program.Messages {
		m := &b.program.Messages[i]
		row, index := p.RowOf(m.Consumer), p.Index(m.Consumer)
		for _, pred := range p.Rows[row].Preds {
			lag := b.ticks(pred.Lag)
			if lag <= b.latency[i] {
				continue
			}
			for _, r := range []int32{pred.Row, p.Rows[pred.Row].Twin} {
				if r < 0 || !slices.Contains(p.Rows[r].Devices, m.From) {
					continue
				}
				first, end := p.PredOps(row, index, model.Pred{Row: r})
				for op := first; op < end; op++ {
					if b.earlier == nil {
						b.earlier = map[int32][]earlier{}
					}
					b.earlier[int32(i)] = append(b.earlier[int32(i)], earlier{op, lag})
				}
			}
		}
	}
}

// localDelays lists, by row, the predecessors on the same device after which an operation
// waits for a while, which no message tells. It is nil if there are none.
func localDelays(p *model.Problem) [][]model.Pred {
	var delays [][]model.Pred
	for r := range p.Rows {
		for _, pred := range p.Rows[r].Preds {
			if pred.Lag == 0 || !overlap(p.Rows[r].Devices, p.Rows[pred.Row].Devices) {
				continue
			}
			if delays == nil {
				delays = make([][]model.Pred, len(p.Rows))
			}
			delays[r] = append(delays[r], pred)
			if twin := p.Rows[pred.Row].Twin; twin >= 0 {
				delays[r] = append(delays[r], model.Pred{Row: twin, Lag: pred.Lag})
			}
		}
	}
	return delays
}

func overlap(a, b []int32) bool {
	return slices.ContainsFunc(a, func(d int32) bool { return slices.Contains(b, d) })
}

// Name says what the backend is.
func (b *Backend) Name() string { return "emulated" }

// Label says what stands behind times of this backend: how devices keep time, where
// durations come from, and how much slower than the problem says time passes.
func (b *Backend) Label() string {
	mode := "free"
	if b.options.Anchored {
		mode = "anchored: ends as predicted by construction"
	}
	unit := b.program.Problem.TimeUnit()
	durations := unit.Name
	if _, physical := units[unit.Name]; !physical {
		durations += ":" + b.options.Tick.String()
	}
	return fmt.Sprintf("emulated(%s) durations=%s dilation=%s", mode, durations, strconv.FormatFloat(b.options.Dilation, 'g', -1, 64))
}

// PerTick returns how many nanoseconds a tick of the problem lasts, as [Scale] does.
func (b *Backend) PerTick() float64 { return b.perTick }

// Devices returns one device for each of the program.
func (b *Backend) Devices() []pipert.Device { return b.devices }

// Begin prepares an iteration.
func (b *Backend) Begin(int) error {
	b.anchor.Store(0)
	for _, d := range b.devices {
		clear(d.(*device).ended)
	}
	return nil
}

// Finish ends an iteration. There is no loss, and there are no tensors.
func (b *Backend) Finish() (pipert.Step, error) { return pipert.Step{Loss: math.NaN()}, nil }

// Close gives the process its number of processors back.
func (b *Backend) Close() error {
	if b.processors > 0 {
		runtime.GOMAXPROCS(b.processors)
	}
	return nil
}
