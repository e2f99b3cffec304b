package emulated

import (
	"context"
	"time"
)

// clock counts nanoseconds on the monotonic clock.
type clock struct {
	base   time.Time
	offset int64 // what the kernel's clock showed at base, where devices wait by it
}

func (c *clock) now() int64 { return int64(time.Since(c.base)) }

const (
	// patience is the longest wait after which a device looks at its context.
	patience = 20 * time.Millisecond
	// spin is the end of a wait that is spent looking at the clock: the kernel wakes a
	// thread some 50 to 100 microseconds late.
	spin = 100 * time.Microsecond
)

// waitUntil returns when the clock shows the deadline, or soon after the context has ended,
// with its cause.
func (c *clock) waitUntil(ctx context.Context, deadline int64) error {
	s := newSleeper()
	defer s.close()
	for {
		left := deadline - c.now()
		if left <= int64(spin) {
			break
		}
		s.sleepUntil(c, deadline-max(int64(spin), left-int64(patience)))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	for c.now() < deadline {
	}
	return nil
}
