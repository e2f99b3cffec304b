// Package proof verifies search proofs, and writes and reads them as files.
//
// A lower bound that a search found is worth as much as the program that searched.
// So an engine tells every step of its reasoning to a solve.Trace, and the Checker
// verifies each from the definitions of docs/proof.md. It shares no code with any
// engine, only the numbering of constraints.Variables.
//
// The scheme is reverse unit propagation (Goldberg and Novikov, "Verification of
// proofs of unsatisfiability for CNF formulas", DATE 2003) with the steps given in
// order, as in LRAT (Cruz-Filipe, Heule, Hunt, Kaufmann and Schneider-Kamp,
// "Efficient certified RAT verification", CADE 2017): the checker never searches.
package proof
