// Package cssr is the Computation Schedule Space Representation: the space of
// schedules as a handful of choices, and the one decoder that turns a choice
// into a plan.
//
// A Point is a schedule of the space. Its Choices shape the problem: partition of
// layers into stages, placement, chunks, fused or separated backward passes,
// recompute. Build applies them to a configuration. Its Policy ranks what is ready:
// the priority of the computation types, by actor (device) and phase of its work; the
// traversal of the stages; the grouping of micro-batches; the policy of weight
// gradients; and how much each actor may have in flight, in micro-batches or memory. A
// point has an exact text form of one line (ParsePoint), and schedules of the
// literature are points (Named). A Rule is the numeric form of a policy that the
// Decoder reads; searches move in rules directly.
//
// A Request is a point of the space, or an explicit order, with the configuration that
// it is for: what a script or a program asks for. A Spec builds one verb by verb.
//
// The Decoder simulates the actors: each, whenever it is free, starts the ready
// operation that the rule ranks first. It never gets stuck on a memory limit. It can
// tell each of its decisions, and why (Decoder.Trace).
package cssr
