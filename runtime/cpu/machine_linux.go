package cpu

import (
	"math"
	"syscall"
)

// machineMemory returns the bytes of memory of the machine; the largest number if they are not
// known.
func machineMemory() int64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return math.MaxInt64
	}
	return int64(min(uint64(info.Totalram)*uint64(info.Unit), math.MaxInt64))
}
