// Package sat searches for the best plan of a problem with a solver for
// propositional satisfiability, gini, and proves it.
//
// Times are put into units: the greatest common divisor of all lengths and lags.
// Each operation has a window of starts, from what must precede and what must
// follow it, memory included. The formula says:
//
//   - y(o,t), operation o has started by t: the order encoding of integers
//     (Crawford and Baker 1994; Tamura et al. 2009). A precedence is then a clause
//     of two literals for each t;
//   - r(q,t), sequence q of a row occupies its devices from t to t+1. On each
//     device at most one does so: clauses grow with sequences, not with pairs of
//     operations;
//   - b(o,a), where memory is limited: operation a stands before o, which takes
//     memory. What all a before o hold is a sum of literals, counted by generalised
//     totalizers (Bailleux and Boufkhad 2003; Joshi, Martins and Manquinho 2015);
//   - l(o,k), where memory depends on the order of operations of no length:
//     o is among the first k+1 of these, so that none wait for each other in a
//     circle;
//   - z(v), the objective is at most v, by which values are probed;
//   - for the span, which operation an operation had to wait for: plans are measured
//     with each as early as its order allows. A search says it only once it must.
//
// A plan follows from the starts. That the formula has no solution for a value is
// a proof of a bound, but one that no other code has verified: gini cannot tell
// its proof. WriteDIMACS hands the formula to other solvers.
package sat
