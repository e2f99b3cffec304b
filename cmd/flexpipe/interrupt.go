package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// errInterrupted is why a context of interruptible ended.
var errInterrupted = errors.New("interrupted")

// interruptible returns a context that the first SIGINT or SIGTERM ends. The
// second ends the program. stop gives the signals back their usual meaning.
func (p *program) interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for range 2 {
			select {
			case <-signals:
				if ctx.Err() != nil {
					p.exit(exitInterrupted)
				}
				cancel(errInterrupted)
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
