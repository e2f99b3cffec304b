// Package emulated executes programs on devices that wait: each operation lasts as long as
// the problem says, in real time, and computes nothing. A machine with a few cores can so
// run the plan of many devices, since a device that waits needs no core.
//
// A free-running device ends an operation its duration after it really started. Delays add
// up as they would on a real machine: what an iteration takes beyond the prediction is what
// messages, wake-ups and bookkeeping cost. An anchored device ends every operation when the
// prediction says, or at once if that has passed; such a run agrees with the prediction by
// construction and is a demonstration, never evidence.
//
// On Linux a wait ends a few microseconds late, elsewhere some hundred.
//
// Neither says anything about the durations themselves: they come from the problem.
package emulated
