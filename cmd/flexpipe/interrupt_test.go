//go:build unix

package main

import (
	"context"
	"errors"
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
