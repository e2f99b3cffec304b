//go:build !linux || !(amd64 || arm64)

package emulated

import "time"

// sleeper sleeps by the timers of package time.
type sleeper struct{}

func newSleeper() sleeper { return sleeper{} }
func (sleeper) close()    {}

// sleepUntil sleeps until the clock shows at.
func (sleeper) sleepUntil(c *clock, at int64) { time.Sleep(time.Duration(at - c.now())) }

func newClock() clock { return clock{base: time.Now()} }
