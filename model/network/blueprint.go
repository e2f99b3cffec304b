package network

// A Blueprint says which layers of which network each stage of a pipeline holds: what a
// runtime needs to build the stages and train them. It travels with the pipeline, in
// [model.Pipeline.Network], as text.
type Blueprint struct {
	// Kind is gpt, mlp, encoder-decoder or two-branch.
	Kind string `json:"kind"`
	// Stacks are the runs of equal layers: one of a gpt or an mlp; encoder, decoder; the
	// two branches, then the joint stack if there is one.
	Stacks []Stack `json:"stacks"`
	// MicroBatchSize is the samples per micro-batch b.
	MicroBatchSize int `json:"micro_batch_size"`
	// DType is the element type of matrix products that costs were estimated for.
	DType DType `json:"dtype"`
	// Vocabulary says how devices share vocabulary layers: "none", "stage" or "passes".
	Vocabulary string `json:"vocabulary_sharding,omitempty"`
	// Stages has an entry for each stage of the pipeline.
	Stages []Slice `json:"stages"`
}

// A Slice is the layers of a stage: those from First to End, half-open, of a [Part].
type Slice struct {
	Part      int       `json:"part"`
	First     int       `json:"first"`
	End       int       `json:"end"`
	Recompute Recompute `json:"recompute,omitempty"`
}
