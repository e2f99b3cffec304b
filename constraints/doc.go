// Package constraints states what a schedule must obey, and judges schedules.
//
// The rules stand as plain data: a table of rules in words (Rules), and the
// constraints of a problem row by row (Precedences, Resources, MemoryLimits,
// Alternatives), small even where the problem has tens of millions of
// operations. Solvers encode these.
//
// Check is the judge. It tests every rule straight from its definition and
// shares no code with evaluators, decoders or solvers, nor with the enumeration
// that they read: what they have in common is the problem, and CheckCompiled
// derives that anew from the pipeline that it was compiled from.
package constraints
