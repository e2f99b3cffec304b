//go:build amd64 || arm64

package emulated

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// Constants of clock_nanosleep(2) and prctl(2).
const (
	clockMonotonic   = 1
	timerAbstime     = 1
	prSetTimerSlack  = 29
	nanosecondsSlack = 1
	defaultSlack     = 0 // stands for that of the process
)

// sleeper sleeps in the kernel until a moment, on a thread that it holds. Go's own timers wake
// a goroutine 100 to 300 microseconds late, since another thread has to notice first.
type sleeper struct{}

// newSleeper holds the calling thread, and has the kernel wake it without slack.
func newSleeper() sleeper {
	runtime.LockOSThread()
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, nanosecondsSlack, 0)
	return sleeper{}
}

func (sleeper) close() {
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, defaultSlack, 0)
	runtime.UnlockOSThread()
}

// sleepUntil sleeps until the clock shows at, or a signal comes: the caller looks again.
func (sleeper) sleepUntil(c *clock, at int64) {
	t := syscall.NsecToTimespec(at + c.offset)
	syscall.Syscall6(syscall.SYS_CLOCK_NANOSLEEP, clockMonotonic, timerAbstime, uintptr(unsafe.Pointer(&t)), 0, 0, 0)
}

// newClock relates the kernel's clock to that of package time. A thread may lose its core
// between the two readings, so it takes the closest of several.
func newClock() clock {
	c := clock{base: time.Now()}
	closest := int64(-1)
	for range 50 {
		var t syscall.Timespec
		before := c.now()
		syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&t)), 0)
		between := c.now() - before
		if closest < 0 || between < closest {
			closest, c.offset = between, t.Nano()-before-between/2
		}
	}
	return c
}
