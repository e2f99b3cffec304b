package runtime

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// run is the state of an iteration. It is made once and reset for each of them, so that a
// run allocates only its record and what starts its goroutines.
//
// A message has a slot, which its one sender fills and its one receiver empties, without a
// lock. The mutex guards only who is idle: an actor that finds its slot empty says under the
// mutex what it awaits, and looks again; a sender looks, after it has filled the slot,
// whether its receiver awaits it. Both orders are sequentially consistent, so one of them
// sees the other. Whoever rouses an actor takes it off the idle ones, before it runs again.
// So when all actors are idle or finished, nobody is left who could send: a deadlock is
// found at once and exactly.
type run struct {
	program *lower.Program
	actors  []actor
	slots   []slot
	gangs   []gang
	record  *Record
	base    time.Time
	ctx     context.Context
	cancel  context.CancelCauseFunc

	stopped  atomic.Bool
	mu       sync.Mutex
	idle     int // actors that wait
	finished int
	left     int           // actors whose goroutine has not ended
	fault    *Fault        // set once, before failed is closed
	failed   chan struct{} // closed when the run has a fault
	done     chan struct{} // closed when the last actor has ended; nil before the first run
	locked   bool

	// deliver is nil but in tests: how often a message arrives.
	deliver func(message int32) int
}

// slot is where a message lies between its two instructions.
type slot struct {
	state   atomic.Uint32
	step    int32 // of the Send in its device's program
	payload any
}

// The states of a slot, in the order of a message's life.
const (
	empty uint32 = iota
	sent
	arrived
	taken
)

// gang is an operation of several devices. The counters are guarded by the mutex of the run.
type gang struct {
	op         model.OpID
	members    []int32
	came, done int // members that have come to its start, and to its end
}

// reset prepares the state for a run.
func (r *run) reset() {
	r.stopped.Store(false)
	r.idle, r.finished, r.left, r.fault = 0, 0, len(r.actors), nil
	r.failed, r.done = make(chan struct{}), make(chan struct{})
	for i := range r.slots {
		s := &r.slots[i]
		s.state.Store(empty)
		s.payload = nil
	}
	for i := range r.gangs {
		r.gangs[i].came, r.gangs[i].done = 0, 0
	}
	preempted := -1
	if r.locked && measuresThreads {
		preempted = 0
	}
	statics := r.program.Problem.Statics
	for d := range r.actors {
		r.actors[d].reset(statics[d], preempted)
	}
	n := r.program.Problem.NumOps()
	times := make([]int64, 2*n)
	for i := range times {
		times[i] = -1
	}
	r.record = &Record{Start: times[:n:n], End: times[n:], Devices: make([]DeviceRecord, len(r.actors))}
	if len(r.actors) == 0 {
		close(r.done)
	}
}

// start makes the actors run, from one moment on. What it returns ends their context.
func (r *run) start(parent context.Context) (finish func()) {
	ctx, cancel := context.WithCancelCause(parent)
	r.ctx, r.cancel = ctx, cancel
	var ready sync.WaitGroup
	ready.Add(len(r.actors))
	gate := make(chan struct{})
	for d := range r.actors {
		go r.actors[d].run(r, &ready, gate)
	}
	ready.Wait()
	r.base = time.Now()
	close(gate)
	return func() { cancel(nil) }
}

// now is the time since the moment at which all actors were ready, in nanoseconds.
func (r *run) now() int64 { return int64(time.Since(r.base)) }

// lastMove is when an operation started or ended last.
func (r *run) lastMove() int64 {
	last := int64(0)
	for d := range r.actors {
		last = max(last, r.actors[d].moved.Load())
	}
	return last
}

// close returns the record of a run that has come to its end.
func (r *run) close() *Record {
	first, last := int64(-1), int64(-1)
	for op, start := range r.record.Start {
		if start >= 0 && (first < 0 || start < first) {
			first = start
		}
		last = max(last, r.record.End[op])
	}
	r.record.Makespan = time.Duration(last - first)
	for d := range r.actors {
		r.record.Devices[d] = r.actors[d].record(r.program.Problem.Statics[d])
	}
	return r.record
}

// fail ends the run, unless it has failed before.
func (r *run) fail(f *Fault) {
	r.mu.Lock()
	r.failLocked(f)
	r.mu.Unlock()
}

func (r *run) failStalled(stall time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left == 0 {
		return // it ended while the process slept
	}
	table := r.table()
	r.failLocked(&Fault{Cause: Stalled, Device: -1, Step: -1, Waiting: table, Cycle: cycle(table), stall: stall})
}

func (r *run) failLocked(f *Fault) {
	if r.fault != nil {
		return
	}
	f.problem = r.program.Problem
	r.fault = f
	r.stopped.Store(true)
	r.cancel(f)
	for d := range r.actors {
		r.actors[d].rouse()
	}
	close(r.failed)
}

// deadlock describes a run in which every actor is idle or finished.
func (r *run) deadlock() *Fault {
	table := r.table()
	f := &Fault{Cause: Deadlocked, Device: -1, Step: -1, Waiting: table, Cycle: cycle(table)}
	for d := range table {
		if w := &table[d]; w.SentAt >= 0 && !w.Taken {
			f.Cause, f.Device, f.Step, f.Op = Lost, w.Device, w.Step, w.Op
			break
		}
	}
	return f
}

// table says where each device is. It may be called at any time; of a device that moves
// meanwhile it tells one of its positions.
func (r *run) table() []Waiting {
	now := r.now()
	table := make([]Waiting, len(r.actors))
	for d := range r.actors {
		r.fillRow(&table[d], &r.actors[d], now)
	}
	return table
}

func (r *run) fillRow(w *Waiting, a *actor, now int64) {
	p := r.program.Problem
	*w = Waiting{Device: a.index, Step: int(a.step.Load()), SentAt: -1, Activity: Activity(a.activity.Load())}
	if w.Step >= len(a.code) {
		w.Activity = Finished
	}
	awaited := a.awaits.Load()
	switch {
	case w.Activity == Finished:
		return
	case w.Activity == Waits && awaited == nothing:
		w.Activity = Working // it has been roused
	}
	w.Op = p.Name(a.code[w.Step].Op)
	from := a.since.Load()
	if w.Activity != Waits {
		from = a.moved.Load()
	}
	w.Since = time.Duration(now - from)
	switch {
	case w.Activity != Waits:
	case awaited >= 0:
		message, s := &r.program.Messages[awaited], &r.slots[awaited]
		w.For, w.Of = p.Name(message.Producer), []int{int(message.From)}
		if state := s.state.Load(); state == sent || state == taken {
			w.SentAt, w.Taken = int(s.step), state == taken
		}
	default:
		index, _ := gangOf(awaited)
		g := &r.gangs[index]
		w.For = p.Name(g.op)
		for _, m := range g.members {
			if r.actors[m].awaits.Load() != awaited {
				w.Of = append(w.Of, int(m))
			}
		}
	}
}
