package runtime

import (
	"time"

	"github.com/flexpipe/flexpipe/model"
)

// Record is the course of one iteration. Times are nanoseconds on the monotonic clock since
// the moment at which all actors were ready.
type Record struct {
	Start, End []int64 // by operation; -1 for one that the plan does not hold
	Devices    []DeviceRecord
	Makespan   time.Duration // first start to last end of an operation
}

// DeviceRecord is the course of one device. Busy + Wait + Overhead is the time from the
// moment at which all actors were ready to the device's last instruction.
type DeviceRecord struct {
	Busy     time.Duration // in operations that are work, as in [model.DeviceMetrics]
	Wait     time.Duration // for messages and to take them, for the other devices of a gang, and in transfers
	Overhead time.Duration // the rest: the engine's own work
	Peak     model.Bytes   // largest sum of static and live memory, as the program counts it
	Live     model.Bytes   // what was taken and not given back; 0 in a right program
	// Preempted counts operations during which the thread did not run for more than 3 % of
	// the time; -1 where that is not measured.
	Preempted int
}
