// Package cpu trains networks in 32-bit floats on the processor: it is the backend of
// runtime that needs nothing installed.
//
// A layer is a few kernels (matrix products by gonum, or OpenBLAS with the build tag
// openblas) and the memory between them. A stage is a run of layers, a device the stages of
// one actor. Every device computes in the goroutine of its actor and starts no other, so that
// it does not take the core of another actor, and every sum has a fixed order, so that results
// do not depend on the machine's load.
//
// [Open] builds the devices of a program, [Footprint] says what a stage will hold before there
// is a plan. [Replay] and [Unpipelined] train the same network by one goroutine: the first in
// the order of a plan, whose results are those of its devices bit by bit, the second
// micro-batch by micro-batch. Data need no files: a short text, and random vectors.
package cpu
