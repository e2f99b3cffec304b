// Package lower turns a plan into programs, one for each device: which operations to
// compute, what to send and receive in between, and when memory is taken and given back.
//
// A plan says only in which order a device runs its operations. A device that executes it
// needs to know more: where an input comes from, who waits for an output, how much memory
// an operation takes. [Lower] adds that by a table of passes, each of which a check
// follows. [Program.Simulate] then runs the programs without time under three models of the
// channels between devices, and reports devices that would wait for each other for ever.
package lower
