// Package heuristics finds good plans fast, at any size. It promises legal plans
// and nothing about their distance to the best; the bound beside them tells.
//
// Schedules lists the named schedules of the literature, each built as its paper
// says for the shapes that it is made for. Search looks for the best plan: it
// builds the named schedules that fit, decodes priority rules (recipe) through
// the one decoder of package cssr, improves orders by swaps on the critical path
// (tabu), chooses between fused and separated backward passes (fuse), and among
// plans as good takes one with less memory (thrift).
package heuristics
