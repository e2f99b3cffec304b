package runtime_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/model"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/runtime/lower"
)

// fake is a device that does what a test says, and nothing otherwise.
type fake struct {
	compute func(ctx context.Context, op model.OpID) error
	send    func(message int) (any, error)
	receive func(message int, payload any) error
}

func (f *fake) Compute(ctx context.Context, op model.OpID) error {
	if f.compute != nil {
		return f.compute(ctx, op)
	}
	return nil
}

func (f *fake) Send(message int) (any, error) {
	if f.send != nil {
		return f.send(message)
	}
	return nil, nil
}

func (f *fake) Receive(message int, payload any) error {
	if f.receive != nil {
		return f.receive(message, payload)
	}
	return nil
}

// fakes returns n devices that do nothing.
func fakes(n int) []pipert.Device {
	devices := make([]pipert.Device, n)
	for d := range devices {
		devices[d] = &fake{}
	}
	return devices
}

// on makes device d of all fakes run a function as operation name.
func on(p *model.Problem, d int, name string, f func(ctx context.Context) error) []pipert.Device {
	devices := fakes(p.NumDevices())
	devices[d] = &fake{compute: func(ctx context.Context, op model.OpID) error {
		if p.Name(op) == name {
			return f(ctx)
		}
		return nil
	}}
	return devices
}

func newEngine(t testing.TB, pr *lower.Program, devices []pipert.Device, o pipert.Options) *pipert.Engine {
	t.Helper()
	e, err := pipert.NewEngine(pr, devices, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// checkLeaks fails a test after which more goroutines are left than there were before it.
func checkLeaks(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for try := 0; runtime.NumGoroutine() > before; try++ {
			if try == 100 {
				stacks := make([]byte, 1<<16)
				t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
}

// lines compares texts and shows both.
func lines(t *testing.T, got string, want ...string) {
	t.Helper()
	if w := strings.Join(want, "\n"); got != w {
		t.Errorf("got\n%s\nwant\n%s", got, w)
	}
}
