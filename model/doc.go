// Package model holds the facts of pipeline-parallel training as plain data:
// what must run (Problem), what was decided (Plan), and what follows from it
// (Timeline, Metrics).
//
// A Pipeline is the description a person would give: stages, devices,
// micro-batches, costs, memory, links. Compile turns it into a Problem, the
// form that every algorithm reads: rows of operations with durations,
// predecessors and memory deltas. An operation is a row (what) and a
// micro-batch (which); it is computed from its OpID, not stored, so that tens
// of millions of operations fit in memory. A Plan is an order of operations for
// each device; Evaluate derives the earliest start of each operation from it.
//
// All quantities are integers: Time in ticks, Bytes in memory units. A Unit
// says what one tick or byte means to the user. The package imports only the
// standard library and depends on nothing else of the project.
package model
