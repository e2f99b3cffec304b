package cpu

// A layer is the smallest part of a network that a stage holds; it belongs to one device.
// Matrices are row-major. n is the rows of a micro-batch (samples × positions), and tensors
// that pass between layers are [n, width].
//
// For each micro-batch a layer is called in this order: forward, backwardInput,
// backwardWeight; other micro-batches may come in between. What it has to remember is in
// the record of the micro-batch, of which the stage allocates the parts as footprint says.
// backwardWeight adds to the gradients; all other results are written over.
type layer interface {
	// footprint returns what the layer remembers, in elements.
	footprint() footprint
	// parameters returns the parameters in a fixed order; the same slice each time.
	parameters() []*parameter

	// forward reads what its predecessors put out, one tensor of each in the order of the
	// stage graph, and writes out, all [n, width]. The first layer of a network reads data
	// (in is empty), the last writes a loss (out is nil). It keeps nothing of in, which it
	// copies to r.input if need be.
	forward(r *record, in [][]float32, out []float32)
	// rebuild does the forward once more from r.input, for a record that has only that.
	rebuild(r *record)
	// backwardInput reads the gradient of out (nil for the last layer) and writes those of in
	// (empty for a first one); afterwards r.kept and r.scores are not read any more.
	backwardInput(r *record, dout []float32, din [][]float32)
	// backwardWeight adds to the gradients of the parameters. Afterwards the record is not
	// read any more.
	backwardWeight(r *record)
}

// footprint is the memory of one micro-batch in a layer, in elements. When it is there
// depends on what the stage recomputes:
//
//	            none                          selective     full
//	input       forward to backward weight    the same      the same
//	retained    forward to backward weight    the same      backward input to backward weight
//	kept        forward to backward input     the same      work space of backward input
//	scores      forward to backward input     work space    work space of backward input
//	added       end of backward input to backward weight, in all three
//
// Results take the place of what is not needed any more: gradients that backwardWeight reads
// are written over activations in input and retained. So backwardInput needs no more memory
// than what is there before or after it, and work.
type footprint struct {
	input    int  // the checkpoint of full recomputation: what forward copies of its input
	retained int  // the rest of what backwardWeight reads, and what makes room for it
	kept     int  // what backwardInput is the last to read, without scores
	scores   int  // attention matrices, what selective recomputation leaves out
	added    int  // what only backwardInput can fill
	work     int  // scratch that every call may write over
	fixed    bool // nothing is recomputed, whatever the stage does
}

// record is what a layer remembers of one micro-batch. A part that is not there yet, or no
// more, is nil.
type record struct {
	batch    *batch // the data of the micro-batch
	input    []float32
	retained []float32
	kept     []float32
	scores   []float32 // with rescore: work space, and not filled by forward
	added    []float32
	work     []float32
	// rescore says that backwardInput has to compute scores anew (selective recomputation).
	rescore bool
}

// A parameter is a tensor that is trained.
type parameter struct {
	name        string // unique in its layer, such as "qkv.weight"
	rows, cols  int    // rows is 1 for a vector
	value, grad []float32

	// At the start of training, elements are normal with this mean and standard deviation.
	mean, deviation float32
}

// batch is the data of one micro-batch, and what a layer of loss makes of it.
type batch struct {
	tokens  []int32   // [n], the input of an embedding
	targets []int32   // [n], what a head should predict
	input   []float32 // [n, width], the input of a network without embedding
	wanted  []float32 // [n, width], what an mlp should put out
	scale   float32   // of the loss's gradient: 1 / micro-batches
	loss    float64   // mean over the micro-batch, written by forward of the last layer
}
