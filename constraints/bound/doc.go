// Package bound proves lower bounds: values that the objective of no schedule
// within the rules can fall below, whatever the order.
//
// An operation has a head (it starts no earlier than that after the first start
// of the iteration) and a tail (at least that follows its end). Tails are the
// heads of the problem reversed in time. Heads grow from four arguments, round
// by round until they agree:
//
//   - precedence: the longest path through predecessors, with their lags;
//   - row order: identical micro-batches lose nothing by running in index order
//     within a row, and a device runs one operation at a time;
//   - memory: an operation that takes memory waits until enough of it has been
//     given back, for which it needs a number of earlier backward operations;
//   - machine: what must run before an operation on its device takes its time,
//     after its own heads (Jackson 1955; Θ-trees, Vilím 2004).
//
// The bound of a device is then the optimum of its preemptive one-machine
// problem with these heads and tails (Jackson 1955; Carlier 1982), and the bound
// of the problem is the largest of these. For the objective span, heads and
// tails of a device count from its own first start and to its own last end.
//
// From there on, values are refuted: supposing that a schedule reaches one, tails
// become deadlines, and edge finding (Carlier and Pinson 1989) and detectable
// precedences (Vilím 2004) narrow the windows until some device cannot keep them
// (a destructive bound, Klein and Scholl 1999).
//
// Effort is counted, not timed, so that a bound is the same on every machine. What
// is too large for all of it is bounded by the first and last micro-batches, with
// the work of those between them as a block.
package bound
