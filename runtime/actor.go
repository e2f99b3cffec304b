package runtime

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// actor runs the program of one device. Its goroutine alone writes to it; what others read
// is atomic.
type actor struct {
	index  int
	device Device
	code   []instr
	wake   chan struct{} // has room for one; filled by whoever rouses the actor

	step     atomic.Int32 // of the instruction that runs; len(code) after the last one
	activity atomic.Uint32
	awaits   atomic.Int32 // a message, a gang (see awaitStart), or nothing
	moved    atomic.Int64 // start or end of its latest operation
	since    atomic.Int64 // start of its latest wait

	busy, wait, last int64 // nanoseconds
	live, peak       model.Bytes
	preempted        int

	_ [64]byte // the next actor starts on another cache line
}

// instr is an instruction with what the engine adds to it.
type instr struct {
	lower.Instr
	gang int32 // of a Compute of several devices, else -1
	work bool  // of a Compute: it counts as work, as in [model.KindInfo]
}

// What an actor may await beside a message, which counts from 0.
const nothing int32 = -1

// awaitStart and awaitEnd stand for the start and the end of a gang's operation.
func awaitStart(gang int32) int32 { return -2 - 2*gang }
func awaitEnd(gang int32) int32   { return -3 - 2*gang }

// gangOf is the inverse of both.
func gangOf(awaited int32) (gang int32, end bool) {
	return (-2 - awaited) / 2, (-2-awaited)%2 == 1
}

func (a *actor) reset(static model.Bytes, preempted int) {
	select {
	case <-a.wake:
	default:
	}
	a.step.Store(0)
	a.activity.Store(uint32(Working))
	a.awaits.Store(nothing)
	a.moved.Store(0)
	a.since.Store(0)
	a.busy, a.wait, a.last = 0, 0, 0
	a.live, a.peak = static, static
	a.preempted = preempted
}

func (a *actor) record(static model.Bytes) DeviceRecord {
	return DeviceRecord{
		Busy: time.Duration(a.busy), Wait: time.Duration(a.wait),
		Overhead: time.Duration(a.last - a.busy - a.wait),
		Peak:     a.peak, Live: a.live - static, Preempted: a.preempted,
	}
}

// rouse makes a sleeping actor look around. It never blocks.
func (a *actor) rouse() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// run is the goroutine of an actor.
func (a *actor) run(r *run, ready *sync.WaitGroup, gate <-chan struct{}) {
	defer r.leave()
	if r.locked {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	ready.Done()
	<-gate
	ended := false
	defer func() {
		if !ended {
			r.panicked(a, recover())
		}
	}()
	a.execute(r)
	ended = true
}

// panicked ends the run for an actor whose device did not return.
func (r *run) panicked(a *actor, value any) {
	err, ok := value.(error)
	switch {
	case value == nil:
		err = errors.New("the device has left the goroutine of its actor")
	case !ok:
		err = fmt.Errorf("%v", value)
	}
	f := r.faultAt(a, Panicked, err)
	f.Stack = debug.Stack()
	r.fail(f)
}

// faultAt is a fault of the instruction at which an actor is.
func (r *run) faultAt(a *actor, cause Cause, err error) *Fault {
	step := int(a.step.Load())
	in := &a.code[step]
	return &Fault{
		Cause: cause, Device: a.index, Step: step, Op: r.program.Problem.Name(in.Op), Err: err,
		doing: r.describe(in),
	}
}

// describe words an instruction.
func (r *run) describe(in *instr) string {
	p := r.program.Problem
	switch in.Code {
	case lower.Receive:
		m := &r.program.Messages[in.Message]
		return fmt.Sprintf("receive %s from %s for %s", p.Name(m.Producer), p.DeviceName(int(m.From)), p.Name(m.Consumer))
	case lower.Send:
		m := &r.program.Messages[in.Message]
		return fmt.Sprintf("send %s to %s for %s", p.Name(m.Producer), p.DeviceName(int(m.To)), p.Name(m.Consumer))
	}
	return p.Name(in.Op)
}

// execute runs the instructions in order, until the last one or until the run is stopped.
func (a *actor) execute(r *run) {
	received := int64(-1) // when the instruction before ended, if it was a Receive
	for step := range a.code {
		if r.stopped.Load() {
			return
		}
		a.step.Store(int32(step))
		in := &a.code[step]
		ok := true
		switch in.Code {
		case lower.Receive:
			received, ok = a.receive(r, in, received)
		case lower.Take:
			a.live += in.Bytes
			a.peak = max(a.peak, a.live)
		case lower.Give:
			a.live -= in.Bytes
		case lower.Compute:
			ok = a.compute(r, in)
		case lower.Send:
			ok = a.send(r, in)
		}
		if !ok {
			return
		}
		if in.Code != lower.Receive {
			received = -1
		}
	}
	a.last = r.now()
	a.step.Store(int32(len(a.code)))
	a.activity.Store(uint32(Finished))
	r.finish()
}

// receive waits for a message and hands it to the device. All of that counts as waiting.
// Receives that follow each other share the time stamp between them.
func (a *actor) receive(r *run, in *instr, before int64) (after int64, ok bool) {
	if before < 0 {
		before = r.now()
	}
	s := &r.slots[in.Message]
	if s.state.Load() != arrived && !r.awaitMessage(a, in.Message, before) {
		return 0, false
	}
	payload := s.payload
	s.payload = nil
	s.state.Store(taken)
	if err := a.device.Receive(int(in.Message), payload); err != nil {
		r.fail(r.faultAt(a, Failed, err))
		return 0, false
	}
	after = r.now()
	a.wait += after - before
	return after, true
}

// send takes a message from the device and puts it into its slot.
func (a *actor) send(r *run, in *instr) bool {
	payload, err := a.device.Send(int(in.Message))
	if err != nil {
		r.fail(r.faultAt(a, Failed, err))
		return false
	}
	arrivals := 1
	if r.deliver != nil {
		arrivals = r.deliver(in.Message)
	}
	if arrivals == 0 {
		r.lose(a, in.Message)
		return true
	}
	for range arrivals {
		if !r.post(a, in.Message, payload) {
			return false
		}
	}
	return true
}

// compute runs an operation, with the other devices of its gang if it has one.
func (a *actor) compute(r *run, in *instr) bool {
	before := int64(0)
	if in.gang >= 0 {
		before = r.now()
		if !r.meet(a, in.gang, false, before) {
			return false
		}
	}
	var cpu int64
	if r.locked {
		cpu = threadTime()
	}
	start := r.now()
	a.moved.Store(start)
	a.activity.Store(uint32(Running))
	err := a.device.Compute(r.ctx, in.Op)
	end := r.now()
	if err != nil {
		r.fail(r.faultAt(a, Failed, err))
	}
	a.activity.Store(uint32(Working))
	a.moved.Store(end)
	if err != nil {
		return false
	}
	if in.work {
		a.busy += end - start
	} else {
		a.wait += end - start
	}
	if r.locked {
		a.countPreemption(threadTime()-cpu, end-start)
	}
	if in.gang < 0 {
		r.record.Start[in.Op], r.record.End[in.Op] = start, end
		return true
	}
	if !r.meet(a, in.gang, true, end) {
		return false
	}
	a.wait += start - before + r.now() - end
	return true
}

// countPreemption counts an operation during which the thread ran for less than 97 % of the
// time. Where CPU time is not measured the count stays -1.
func (a *actor) countPreemption(cpu, wall int64) {
	if a.preempted >= 0 && float64(cpu) < 0.97*float64(wall) {
		a.preempted++
	}
}
