// Package network computes, layer by layer, what a deep network costs on a
// cluster, and cuts its layers into pipeline stages.
//
// The way from a description to stages has three steps:
//
//  1. A [Network] ([GPT], [MLP], [EncoderDecoder], [TwoBranch]) lists its layers in
//     its Parts, chains that read each other. A [Layer] counts the floating-point
//     operations and the bytes of one micro-batch.
//  2. A [Partition] says how many consecutive layers each stage holds: for one
//     chain [Even], [Listed], or [Balanced], which is exact, and for several
//     [EvenParts], [ListedParts] and [BalancedParts].
//  3. [Stages], and [PartStages] for several chains, sum the layers of each stage
//     and turn operations into time on a [Cluster]. [StageGraph] says which stage
//     follows which.
//
// A [Blueprint] is a description with its cut as text, which travels with a plan to who
// trains the network. [Measured] puts measurements in the place of formulas.
//
// # What is counted
//
// Only matrix products (GEMMs) count as work, each multiply-add as two
// operations, as in Table 1 of Qi, Wan, Huang and Lin, "Zero Bubble Pipeline
// Parallelism" (2023, arXiv:2401.10241). Activation bytes follow Section 4 of
// Korthikanti et al., "Reducing Activation Recomputation in Large Transformer
// Models" (2022, arXiv:2205.05198). Both are generalised to any feed-forward
// width and to 32-bit elements; the formulas stand beside the code.
//
// Throughout, b is the micro-batch size, s the sequence length, h the hidden
// size, a the number of attention heads, f the feed-forward width, V the
// vocabulary, and e the bytes of an element. Tensors are [b, s, h] unless said
// otherwise.
//
// # What it is worth
//
// The results are estimates for planning before anything runs. The profile
// published with the Zero Bubble paper (1.5B model, 8 devices) has forward,
// backward input and backward weight at 18.5, 18.1 and 9.3 ms, where the
// formulas put the sum of the last two at twice the first: kernels of equal
// work do not take equal time. A measured profile is better where one exists: see
// [Measured] for one of layers.
//
// Everything here is a pure function of its arguments and safe for concurrent
// use.
package network
