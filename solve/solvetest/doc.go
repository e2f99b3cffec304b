// Package solvetest is the conformance suite of engines: what solve.Solver
// promises, tested against exhaustive search on tiny problems, and against itself
// on larger ones.
package solvetest
