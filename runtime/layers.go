package runtime

import "github.com/flexpipe/flexpipe/model/network"

// A Profiler is a backend that knows what each layer of its network takes.
type Profiler interface {
	Backend
	// Layers returns the layers in the order of the network's parts. Times are those of all
	// devices since the last call of ResetTimes.
	Layers() []LayerCosts
	// ResetTimes forgets the times measured so far.
	ResetTimes()
}

// LayerCosts are what a layer takes for one micro-batch. Times are nanoseconds, sizes bytes.
type LayerCosts struct {
	Part int    // of the network
	Name string // unique in its part, such as "block 3"

	Forward, BackwardWeight Quantiles
	// BackwardInput is by what the stage recomputes for it, which is included.
	BackwardInput [network.NumRecomputes]Quantiles

	Activation int64 // from forward to backward, if nothing is recomputed
	Retained   int64 // from backward input to backward weight
	Selective  int64 // instead of Activation under selective recomputation
	Full       int64 // and under full recomputation
	Work       int64 // space that every operation uses anew; a stage needs the largest
	// SelectiveWork and FullWork are what recomputation needs beyond Work.
	SelectiveWork, FullWork int64
	Parameters              int64 // how many
	Output                  int64 // what the next layer reads
}
