package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flexpipe/flexpipe/runtime/lower"
)

// Options say how an engine runs. The zero value is ready for use.
type Options struct {
	// Stall ends a run in which no operation has started or ended on any device for so
	// long, with a [Fault] that lists who waits for whom. It must be longer than the longest
	// operation. 0: never.
	Stall time.Duration

	// Grace is how long a run that is to end waits for operations that do not look at their
	// context. After that Run returns without them. 0: 2 seconds.
	Grace time.Duration

	// LockThreads gives each actor a thread of its own, and measures preemption: CPU time of
	// the thread against wall time, on Linux. A message that is waited for then takes tens of
	// microseconds instead of less than one.
	LockThreads bool
}

const defaultGrace = 2 * time.Second

// Engine runs a program on devices, any number of times.
type Engine struct {
	options Options
	run     *run
}

// A ProgramError reports a program that no engine can run.
type ProgramError struct {
	Device, Step int // -1 if it is about the program as a whole
	Reason       string
}

func (e *ProgramError) Error() string {
	if e.Device < 0 {
		return "program: " + e.Reason
	}
	return fmt.Sprintf("program: device %d, step %d: %s", e.Device, e.Step, e.Reason)
}

// NewEngine returns an engine for a program and its devices, one for each of the program.
// It tests form only: numbers of devices, indices, and that an instruction stands where its
// operation or message belongs; whether the devices get to the end is for
// [lower.Program.Simulate] to say, and at the latest for the run. Errors are *[ProgramError].
// Cost O(instructions).
func NewEngine(program *lower.Program, devices []Device, o Options) (*Engine, error) {
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	r, err := newRun(program, devices, o.LockThreads)
	if err != nil {
		return nil, err
	}
	return &Engine{options: o, run: r}, nil
}

// errBusy is returned while an operation of an earlier run has not ended.
var errBusy = errors.New("an operation of an earlier run still runs, its device cannot be used")

// Run executes one iteration. It returns when every device has run its last instruction, with
// a record, or when it cannot, with a *[Fault]. It must not be called concurrently. No
// goroutine outlives it, except those of devices that the fault lists as left.
//
// An operation costs less than a microsecond beside its own work, and no allocation.
func (e *Engine) Run(ctx context.Context) (*Record, error) {
	r := e.run
	if r.done != nil {
		select {
		case <-r.done:
		default:
			return nil, errBusy
		}
	}
	if ctx.Err() != nil {
		return nil, &Fault{Cause: Cancelled, Device: -1, Step: -1, Err: causeOf(ctx), problem: r.program.Problem}
	}
	r.reset()
	finish := r.start(context.WithoutCancel(ctx))
	defer finish()
	if fault := e.supervise(ctx); fault != nil {
		return nil, fault
	}
	return r.close(), nil
}

// supervise waits for the actors to finish, and ends the run when the context ends or
// nothing moves any more. It returns why the run ended early, nil if it did not.
func (e *Engine) supervise(ctx context.Context) *Fault {
	r := e.run
	cancelled := ctx.Done()
	var timer *time.Timer
	var stall <-chan time.Time
	if e.options.Stall > 0 {
		timer = time.NewTimer(e.options.Stall)
		defer timer.Stop()
		stall = timer.C
	}
	for {
		select {
		case <-r.done:
			return r.fault
		case <-r.failed:
			return e.collect()
		case <-cancelled:
			cancelled = nil
			r.fail(&Fault{Cause: Cancelled, Device: -1, Step: -1, Err: causeOf(ctx)})
		case <-stall:
			left := e.options.Stall - time.Duration(r.now()-r.lastMove())
			if left <= 0 {
				r.failStalled(e.options.Stall)
			}
			timer.Reset(max(left, time.Millisecond))
		}
	}
}

// collect waits for the actors of a run that has failed, but not for ever.
func (e *Engine) collect() *Fault {
	r := e.run
	timer := time.NewTimer(e.options.Grace)
	defer timer.Stop()
	select {
	case <-r.done:
		return r.fault
	case <-timer.C:
	}
	fault := *r.fault
	for _, w := range r.table() {
		if w.Activity == Running || w.Activity == Working {
			fault.Left = append(fault.Left, w)
		}
	}
	return &fault
}

// causeOf is the cause of a context that has ended, in a form in which errors.Is finds both
// the cause and the plain error.
func causeOf(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return &causeError{err, cause}
}

type causeError struct{ err, cause error }

func (e *causeError) Error() string   { return e.cause.Error() }
func (e *causeError) Unwrap() []error { return []error{e.cause, e.err} }
