// Package partition cuts a chain of layers into pipeline stages, and chooses with the
// cut what each stage recomputes and, where devices differ, which device runs which
// stages, under the memory limits of the devices.
//
// # Objective
//
// The busiest device bounds every schedule from below, so its work per micro-batch
// comes first. Many choices share it, and a [Score] orders those by what the rest of
// the pipe does: see there.
//
// # Methods
//
// [Solve] goes from device to device. A device needs to know where its stages start
// and end; work and memory of a device, and the recomputation of its stages, depend
// on nothing else. So the state between two devices is the frontier: the boundaries
// fixed so far that a later device still needs, and, if the assignment is free, how
// many devices of each class are used up. This is dynamic programming over a
// path decomposition of the boundaries (bucket elimination, Dechter 1999):
//
//   - one stage per device: a frontier of one boundary, the dynamic program for chains on
//     chains, see Pınar and Aykanat, J. Parallel Distrib. Comput. 64(8), 2004;
//   - v, two stages per device: two boundaries, from the outer stages inwards;
//   - loop, two stages per device: three boundaries, one of them where the second lap
//     starts;
//   - devices in any order: the frontier, and a count for each class of equal devices.
//
// Memory couples cut and recomputation: what a stage keeps (Korthikanti et al., "Reducing
// Activation Recomputation in Large Transformer Models", arXiv:2205.05198) decides how
// many layers fit. Both are chosen in one step here, not one after the other.
//
// Where the frontier is too wide, an integer program takes over. It counts how many
// layers of each run of equal layers a stage holds, so that it is small for networks of
// equal blocks, whatever their number. It starts from what a beam, the dynamic
// program with few states, has found; if it ends early, its relaxation is the bound.
//
// All results are deterministic unless the context ends a search.
package partition
