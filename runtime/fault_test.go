package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// chain is a pipeline of two devices and two micro-batches: 1 tick forward, 2 backward.
func chain() (*model.Problem, *model.Plan) {
	p := modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2, Backward: model.Fused, Activation: []model.Bytes{3}, Static: []model.Bytes{5}})
	return p, orders(p, []string{"0F0", "0F1", "0B0", "0B1"}, []string{"1F0", "1B0", "1F1", "1B1"})
}

// fault runs an engine and returns how it failed.
func fault(t *testing.T, e *pipert.Engine, ctx context.Context) *pipert.Fault {
	t.Helper()
	record, err := e.Run(ctx)
	var f *pipert.Fault
	if !errors.As(err, &f) || record != nil {
		t.Fatalf("got a record %v and error %v, want a fault alone", record, err)
	}
	return f
}

func TestDeviceFails(t *testing.T) {
	checkLeaks(t)
	p, plan := chain()
	broken := errors.New("the loss is NaN")
	devices := on(p, 1, "1B0", func(context.Context) error {
		if loss := math.Log(-1); math.IsNaN(loss) {
			return broken
		}
		return nil
	})
	f := fault(t, newEngine(t, assemble(p, plan), devices, pipert.Options{}), t.Context())
	lines(t, f.Error(), "operation failed: device 1 at step 3, 1B0: the loss is NaN")
	if f.Cause != pipert.Failed || f.Device != 1 || f.Step != 3 || f.Op != "1B0" || !errors.Is(f, broken) {
		t.Errorf("fault %+v", f)
	}
}

func TestMessagesFail(t *testing.T) {
	checkLeaks(t)
	p, plan := chain()
	pr := assemble(p, plan)
	devices := fakes(2)
	devices[0].(*fake).send = func(int) (any, error) { return nil, errors.New("no output") }
	f := fault(t, newEngine(t, pr, devices, pipert.Options{}), t.Context())
	lines(t, f.Error(), "operation failed: device 0 at step 2, send 0F0 to device 1 for 1F0: no output")

	devices = fakes(2)
	devices[1].(*fake).receive = func(int, any) error { return errors.New("wrong shape") }
	f = fault(t, newEngine(t, pr, devices, pipert.Options{}), t.Context())
	lines(t, f.Error(), "operation failed: device 1 at step 0, receive 0F0 from device 0 for 1F0: wrong shape")
}

func TestDevicePanics(t *testing.T) {
	checkLeaks(t)
	p, plan := chain()
	cause := errors.New("index out of range")
	for _, c := range []struct {
		name, text string
		do         func()
	}{
		{"value", "panic: device 0 at step 4, 0F1: 7", func() { panic(7) }},
		{"error", "panic: device 0 at step 4, 0F1: index out of range", func() { panic(cause) }},
		{"exit", "panic: device 0 at step 4, 0F1: the device has left the goroutine of its actor", runtime.Goexit},
	} {
		t.Run(c.name, func(t *testing.T) {
			devices := on(p, 0, "0F1", func(context.Context) error { c.do(); return nil })
			f := fault(t, newEngine(t, assemble(p, plan), devices, pipert.Options{}), t.Context())
			lines(t, f.Error(), c.text)
			if f.Cause != pipert.Panicked || !strings.Contains(string(f.Stack), "TestDevicePanics") {
				t.Errorf("cause %v, stack\n%s", f.Cause, f.Stack)
			}
			if c.name == "error" && !errors.Is(f, cause) {
				t.Error("the error of the panic is not found")
			}
		})
	}
}

// TestDeadlock runs orders that contradict the precedences.
func TestDeadlock(t *testing.T) {
	checkLeaks(t)
	p, _ := chain()
	plan := orders(p, []string{"0F0", "0B0", "0F1", "0B1"}, []string{"1F0", "1F1", "1B0", "1B1"})
	f := fault(t, newEngine(t, assemble(p, plan), fakes(2), pipert.Options{}), t.Context())
	lines(t, f.Error(),
		"deadlock: no device can go on",
		"  device 0 at step 3, 0B0, waits for 1B0 of device 1, which is at step 3, 1F1",
		"  device 1 at step 3, 1F1, waits for 0F1 of device 0, which is at step 3, 0B0",
		"  cycle: device 0, device 1, device 0")
	if f.Cause != pipert.Deadlocked || len(f.Waiting) != 2 || len(f.Cycle) != 2 {
		t.Errorf("fault %+v", f)
	}
}

// TestForgotten runs a program that lacks a Send, and one that receives a message twice.
func TestForgotten(t *testing.T) {
	checkLeaks(t)
	p, plan := chain()
	pr := assemble(p, plan)
	code := pr.Devices[0]
	pr.Devices[0] = append(append([]lower.Instr{}, code[:5]...), code[6:]...) // Send of 0F1
	f := fault(t, newEngine(t, pr, fakes(2), pipert.Options{}), t.Context())
	lines(t, f.Error(),
		"deadlock: no device can go on",
		"  device 0 at step 8, 0B1, waits for 1B1 of device 1, which is at step 6, 1F1",
		"  device 1 at step 6, 1F1, waits for 0F1 of device 0, which is at step 8, 0B1",
		"  cycle: device 0, device 1, device 0")

	pr = assemble(p, plan)
	last := pr.Devices[1][0]
	pr.Devices[1] = append(pr.Devices[1], last)
	f = fault(t, newEngine(t, pr, fakes(2), pipert.Options{}), t.Context())
	lines(t, f.Error(),
		"deadlock: no device can go on",
		"  device 0 has finished",
		"  device 1 at step 12, 1F0, waits for 0F0 of device 0, which it has received before")
}

func TestLostMessage(t *testing.T) {
	checkLeaks(t)
	p, plan := chain()
	pr := assemble(p, plan)
	e := newEngine(t, pr, fakes(2), pipert.Options{})
	e.Deliver(func(m int32) int {
		if p.Name(pr.Messages[m].Producer) == "1B0" {
			return 0
		}
		return 1
	})
	f := fault(t, e, t.Context())
	lines(t, f.Error(),
		"lost message: device 0 at step 6 waits for 1B0, sent by device 1 at step 5, never arrived",
		"  device 0 at step 6, 0B0, waits for 1B0, which device 1 sent at step 5",
		"  device 1 has finished")
	if f.Cause != pipert.Lost || f.Device != 0 || f.Step != 6 || f.Op != "0B0" {
		t.Errorf("fault %+v", f)
	}
}

func TestDuplicateMessage(t *testing.T) {
	checkLeaks(t)
	p, plan := chain()
	pr := assemble(p, plan)
	e := newEngine(t, pr, fakes(2), pipert.Options{})
	e.Deliver(func(m int32) int {
		if p.Name(pr.Messages[m].Producer) == "0F0" {
			return 2
		}
		return 1
	})
	f := fault(t, e, t.Context())
	lines(t, f.Error(), "duplicate message: device 0 at step 2, send 0F0 to device 1 for 1F0, which had been sent before")
	if f.Cause != pipert.Duplicate {
		t.Errorf("cause %v", f.Cause)
	}
}

// TestCancelled ends runs from outside, by each way in which a context ends.
func TestCancelled(t *testing.T) {
	checkLeaks(t)
	p, plan := chain()
	mine := errors.New("the user has had enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	e := newEngine(t, assemble(p, plan), on(p, 0, "0F1", func(c context.Context) error {
		cancel(mine)
		<-c.Done()
		return context.Cause(c)
	}), pipert.Options{})
	for range 2 { // the second time the context has ended before
		f := fault(t, e, ctx)
		lines(t, f.Error(), "cancelled: the user has had enough")
		if f.Cause != pipert.Cancelled || !errors.Is(f, context.Canceled) || !errors.Is(f, mine) {
			t.Errorf("fault %+v", f)
		}
	}
	e = newEngine(t, assemble(p, plan), fakes(2), pipert.Options{})
	fault(t, e, ctx)
	if _, err := e.Run(t.Context()); err != nil {
		t.Errorf("a run after one that never started: %v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	e = newEngine(t, assemble(p, plan), on(p, 0, "0F1", func(c context.Context) error {
		<-c.Done()
		return context.Cause(c)
	}), pipert.Options{})
	f := fault(t, e, ctx)
	lines(t, f.Error(), "cancelled: context deadline exceeded")
	if !errors.Is(f, context.DeadlineExceeded) {
		t.Error("the deadline is not found")
	}
}

// TestStalled has an operation that takes too long on the virtual clock: once one that looks
// at its context, once one that does not.
func TestStalled(t *testing.T) {
	p, plan := chain()
	table := []string{
		"stalled: no operation started or ended for 10s",
		"  device 0 at step 4 runs 0F1 for 10s",
		"  device 1 at step 6, 1F1, waits for 0F1 of device 0, which runs 0F1 at step 4",
	}
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, assemble(p, plan), on(p, 0, "0F1", func(c context.Context) error {
			<-c.Done()
			return context.Cause(c)
		}), pipert.Options{Stall: 10 * time.Second})
		f := fault(t, e, t.Context())
		lines(t, f.Error(), table...)
		if f.Cause != pipert.Stalled || f.Left != nil {
			t.Errorf("fault %+v", f)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		deaf := make(chan struct{})
		e := newEngine(t, assemble(p, plan), on(p, 0, "0F1", func(context.Context) error {
			<-deaf
			return nil
		}), pipert.Options{Stall: 10 * time.Second, Grace: 3 * time.Second})
		begin := time.Now()
		f := fault(t, e, t.Context())
		lines(t, f.Error(), append(table,
			"  device 0 does not end 0F1, which has run for 13s: it must look at its context")...)
		if took := time.Since(begin); took != 13*time.Second {
			t.Errorf("the engine gave up after %v", took)
		}
		if _, err := e.Run(t.Context()); err == nil || errors.As(err, &f) {
			t.Errorf("a run with a device in use: %v", err)
		}
		close(deaf)
		synctest.Wait()
		if _, err := e.Run(t.Context()); err != nil {
			t.Errorf("after the operation has ended: %v", err)
		}
	})
}

// TestDeafMessage has a device that does not come back from a message.
func TestDeafMessage(t *testing.T) {
	p, plan := chain()
	synctest.Test(t, func(t *testing.T) {
		deaf := make(chan struct{})
		defer close(deaf)
		devices := fakes(2)
		devices[1].(*fake).receive = func(int, any) error { <-deaf; return nil }
		e := newEngine(t, assemble(p, plan), devices, pipert.Options{Stall: 10 * time.Second, Grace: 3 * time.Second})
		f := fault(t, e, t.Context())
		lines(t, f.Error(),
			"stalled: no operation started or ended for 10s",
			"  device 0 at step 6, 0B0, waits for 1B0 of device 1, which is at step 0, 1F0",
			"  device 1 at step 0 is about 1F0",
			"  device 1 does not get through with messages of 1F0 at step 0")
		if len(f.Left) != 1 || f.Left[0].Device != 1 || f.Left[0].Activity != pipert.Working {
			t.Errorf("left %+v", f.Left)
		}
	})
}

// TestSlow has operations that take long, but not too long.
func TestSlow(t *testing.T) {
	p, plan := chain()
	synctest.Test(t, func(t *testing.T) {
		slow := &fake{compute: func(context.Context, model.OpID) error { time.Sleep(9 * time.Second); return nil }}
		devices := []pipert.Device{slow, &fake{}}
		record, err := newEngine(t, assemble(p, plan), devices, pipert.Options{Stall: 10 * time.Second}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if record.Makespan != 36*time.Second {
			t.Errorf("makespan %v, want 36s", record.Makespan)
		}
	})
}

// TestGangWaits has a member of a gang that never comes.
func TestGangWaits(t *testing.T) {
	checkLeaks(t)
	p := modelgen.Problem(modelgen.Spec{Devices: 3, MicroBatches: 1, Backward: model.Fused, Placement: [][]int{{0, 1, 2}, {0}}})
	plan := orders(p, []string{"0F0", "1F0", "1B0", "0B0"}, []string{"0F0", "0B0"}, []string{"0F0", "0B0"})
	pr := assemble(p, plan)
	pr.Devices[1] = append([]lower.Instr{}, pr.Devices[1]...)
	// Device 1 waits before the gang for what comes after it.
	pr.Messages = append(pr.Messages, lower.Message{Producer: plan.Order[0][3], Consumer: plan.Order[0][0], From: 0, To: 1})
	m := int32(len(pr.Messages) - 1)
	pr.Devices[1] = append([]lower.Instr{{Code: lower.Receive, Op: plan.Order[0][0], Message: m}}, pr.Devices[1]...)
	pr.Devices[0] = append(pr.Devices[0], lower.Instr{Code: lower.Send, Op: plan.Order[0][3], Message: m})
	f := fault(t, newEngine(t, pr, fakes(3), pipert.Options{}), t.Context())
	lines(t, f.Error(),
		"deadlock: no device can go on",
		"  device 0 at step 0, 0F0, waits for device 1, which is at step 0, 0F0",
		"  device 1 at step 0, 0F0, waits for 0B0 of device 0, which is at step 0, 0F0",
		"  device 2 at step 0, 0F0, waits for device 1, which is at step 0, 0F0",
		"  cycle: device 0, device 1, device 0")
}

// TestProcessors finds each fault with any number of processors.
func TestProcessors(t *testing.T) {
	for _, n := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			for range 20 {
				for name, test := range map[string]func(*testing.T){
					"fail": TestDeviceFails, "deadlock": TestDeadlock, "lost": TestLostMessage, "cancel": TestCancelled,
				} {
					t.Run(name, test)
				}
			}
		})
	}
}
