package network

// A Network is a chain of layers. [GPT] and [MLP] are networks; others may be
// added outside this package.
type Network interface {
	// Chain returns the layers in the order of the forward, at least one; each
	// reads what the one before it puts out. The caller owns the slice. It
	// returns an error if the description is not valid.
	Chain() ([]Layer, error)
	// MicroBatch returns the number of samples, and of tokens in all samples,
	// of one micro-batch.
	MicroBatch() (samples, tokens int)
}

// A Summary is what reports of throughput need to know of a network.
type Summary struct {
	// Layers counts the layers, embedding and head included.
	Layers int
	// Parameters counts the parameters; a tied table counts once.
	Parameters int64
	// Samples and Tokens are the size of one micro-batch.
	Samples, Tokens int
	// FLOPs is the work of forward and backward of one micro-batch without
	// recomputation: "model FLOPs", the numerator of the model FLOPs
	// utilisation (Chowdhery et al., "PaLM", arXiv:2204.02311, Appendix B).
	FLOPs float64
}

// Summarize returns the summary of n, or the error of its chain.
func Summarize(n Network) (Summary, error) {
	layers, err := n.Chain()
	if err != nil {
		return Summary{}, err
	}
	sum := Summary{Layers: len(layers)}
	sum.Samples, sum.Tokens = n.MicroBatch()
	for i := range layers {
		sum.Parameters += layers[i].Parameters
		sum.FLOPs += layers[i].Cost(RecomputeNone).FLOPs()
	}
	return sum, nil
}
