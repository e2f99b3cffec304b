//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSignals sends itself two signals: the first ends the search, the second
// the program.
func TestSignals(t *testing.T) {
	codes := make(chan int, 1)
	p := &program{exit: func(code int) { codes <- code }}
	ctx, stop := p.interruptible(context.Background())
	defer stop()

	raise(t, syscall.SIGTERM)
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the first signal did not end the context")
	}
	if cause := context.Cause(ctx); !errors.Is(cause, errInterrupted) {
		t.Errorf("cause %v, want %v", cause, errInterrupted)
	}
	raise(t, syscall.SIGINT)
	select {
	case code := <-codes:
		if code != exitInterrupted {
			t.Errorf("exit code %d, want %d", code, exitInterrupted)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the second signal did not end the program")
	}
}

// endless is a proof file that never ends, and raises a signal behind its header.
type endless struct {
	t      *testing.T
	header io.Reader
	lines  int
}

func (e *endless) Read(p []byte) (int, error) {
	if n, err := e.header.Read(p); err == nil {
		return n, nil
	}
	if e.lines == 0 {
		raise(e.t, syscall.SIGINT)
	}
	e.lines++
	return copy(p, fmt.Sprintf("search %d\n", e.lines)), nil
}

// TestInterruptedCheck demands that a signal ends the verification of a proof.
func TestInterruptedCheck(t *testing.T) {
	const config = `{"version": 1, "devices": 1, "micro_batches": 1, "costs": {"forward": 1, "backward_input": 1, "backward_weight": 1}}`
	plan := filepath.Join(t.TempDir(), "plan.json")
	runIn(config, "solve", "-", "-q", "-o", plan)
	_, header, _ := runIn(config, "solve", "-", "-q", "--proof", "-")
	header, _, _ = strings.Cut(header, "end ")
	var out, messages bytes.Buffer
	p := &program{
		in: &endless{t: t, header: strings.NewReader(header)}, out: &out, err: &messages,
		env: func(string) string { return "" }, exit: func(int) {},
	}
	if code := p.run([]string{"check", plan, "--proof", "-"}); code != exitInterrupted || out.Len() > 0 {
		t.Errorf("exit code %d, %s%s", code, out.String(), messages.String())
	}
	if got := messages.String(); got != "flexpipe: interrupted, the proof is not verified\n" {
		t.Errorf("the message is %q", got)
	}
}

// TestInterruptedWarmUp demands that a signal before anything was measured ends an execution
// without a report.
func TestInterruptedWarmUp(t *testing.T) {
	const config = `{"version": 1, "devices": 2, "micro_batches": 2, "costs": {"forward": 1, "backward_input": 1, "backward_weight": 1}}`
	dir := t.TempDir()
	plan, report := filepath.Join(dir, "plan.json"), filepath.Join(dir, "report")
	runIn(config, "solve", "-", "-q", "-o", plan)

	early := make(chan os.Signal, 1) // a signal before the command listens does not end the test
	signal.Notify(early, syscall.SIGINT)
	defer signal.Stop(early)
	var out, messages bytes.Buffer
	p := &program{out: &out, err: &messages, env: func(string) string { return "" }, exit: func(int) {}}
	code := make(chan int, 1)
	go func() {
		code <- p.run([]string{"run", plan, "--backend", "emulated", "--dilation", "1", "--warm-up", "1000000", "-o", report})
	}()
	for {
		raise(t, syscall.SIGINT)
		select {
		case got := <-code:
			if got != exitLimit || out.Len() > 0 {
				t.Errorf("exit code %d, %s%s", got, out.String(), messages.String())
			}
			if got := messages.String(); got != "flexpipe: interrupted before every plan had an iteration that was measured\n" {
				t.Errorf("the message is %q", got)
			}
			if _, err := os.Stat(report); err == nil {
				t.Error("there is a report")
			}
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func raise(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(syscall.Getpid(), s); err != nil {
		t.Fatal(err)
	}
}

func TestStopReason(t *testing.T) {
	interrupted, cancel := context.WithCancelCause(context.Background())
	cancel(errInterrupted)
	late, end := context.WithTimeout(context.Background(), 0)
	defer end()
	for _, c := range []struct {
		ctx             context.Context
		otherwise, want string
	}{
		{context.Background(), "", ""},
		{context.Background(), "no order fits", "no order fits"},
		{interrupted, "", "interrupted"},
		{interrupted, "the limit came before the first plan", "interrupted"},
		{late, "", "the time limit ended the search"},
		{late, "the limit came before the first plan", "the limit came before the first plan"},
	} {
		if got := stopped(c.ctx, c.otherwise); got != c.want {
			t.Errorf("stopped(%v, %q) = %q, want %q", c.ctx.Err(), c.otherwise, got, c.want)
		}
	}
}
