// Package cssr is the Computation Schedule Space Representation: the space of
// schedules as a handful of choices, and the one decoder that turns a choice
// into a plan.
//
// Some choices shape the problem: partition of layers into stages, placement,
// chunks, fused or separated backward passes, recompute. Build applies
// them to a configuration. The others rank what is ready: a Point names the
// priority of the computation types, the traversal of the stages, the grouping
// of micro-batches, and the in-flight cap and memory of each actor (device). A
// Rule is the numeric form of a Point that the Decoder reads; searches move in
// rules directly.
//
// A Request is a point of the space, or an explicit order, with the configuration that
// it is for: what a script or a program asks for. A Spec builds one verb by verb.
//
// The Decoder simulates the actors: each, whenever it is free, starts the ready
// operation that the rule ranks first. It never gets stuck on a memory limit.
package cssr
