package network

// A Network is a graph of layers: a few chains that read each other. [GPT], [MLP],
// [EncoderDecoder] and [TwoBranch] are networks; others may be added outside this
// package.
type Network interface {
	// Parts returns the chains, at least one, each after those it reads. The caller
	// owns the slice and its layers. It returns an error if the description is not
	// valid.
	Parts() ([]Part, error)
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

// Summarize returns the summary of n, or the error of its parts. Of a layer that devices
// share it counts what they hold and do together, padding and copies included.
func Summarize(n Network) (Summary, error) {
	parts, err := n.Parts()
	if err != nil {
		return Summary{}, err
	}
	var sum Summary
	sum.Samples, sum.Tokens = n.MicroBatch()
	for p := range parts {
		sum.Layers += len(parts[p].Layers)
		for i := range parts[p].Layers {
			l := &parts[p].Layers[i]
			devices := max(1, l.Shards)
			sum.Parameters += int64(devices) * l.Parameters
			sum.FLOPs += float64(devices) * l.Cost(RecomputeNone).FLOPs()
		}
	}
	return sum, nil
}
