//go:build amd64 || arm64

package runtime

import (
	"syscall"
	"unsafe"
)

// threadTime is the CPU time that the calling thread has used, in nanoseconds.
func threadTime() int64 {
	const clockThreadCPUTime = 3 // CLOCK_THREAD_CPUTIME_ID of clock_gettime(2)
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPUTime, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

// measuresThreads says that threadTime is that of the thread.
const measuresThreads = true
