package cpu

import "fmt"

// A trainer is a network under training: its data, its stages and their optimizer, whoever
// runs them. A stage has one copy, or one on each device where micro-batches take several
// routes.
type trainer struct {
	layout    *layout
	optimizer AdamW
	source    *source
	batches   [][]*batch // by micro-batch and part
	copies    [][]*stage // by stage, in the order of routes
	states    [][][]adamState
	steps     int // of the optimizer so far
}

// newTrainer builds the copies of each stage in the homes given, and their parameters.
func newTrainer(l *layout, microBatches int, homes [][]*home, o Options) *trainer {
	t := &trainer{layout: l, optimizer: o.Optimizer, source: newSource(l, o.Seed)}
	if t.optimizer == (AdamW{}) {
		t.optimizer = DefaultAdamW()
	}
	for range microBatches {
		batches := make([]*batch, len(l.parts))
		for p := range batches {
			batches[p] = t.source.newBatch(p, microBatches)
		}
		t.batches = append(t.batches, batches)
	}
	for s := range l.stages {
		t.copies, t.states = append(t.copies, nil), append(t.states, nil)
		for _, h := range homes[s] {
			t.addCopy(newStage(l, s, microBatches, h), o)
		}
	}
	for s := range t.copies {
		for _, c := range t.copies[s] {
			if n := c.work(); n > len(c.home.work) {
				c.home.work = make([]float32, n)
			}
		}
	}
	return t
}

// addCopy adds a copy of its stage, with parameters and what the optimizer remembers of them.
func (t *trainer) addCopy(c *stage, o Options) {
	if o.Timed {
		c.clock = &clock{stage: c}
	}
	c.initialize(o.Seed)
	var states []adamState
	for _, p := range c.parameters {
		states = append(states, newAdamState(p))
	}
	t.copies[c.number] = append(t.copies[c.number], c)
	t.states[c.number] = append(t.states[c.number], states)
}

// begin makes the data of an iteration, and clears gradients and what is left of an
// iteration that failed.
func (t *trainer) begin(iteration int) {
	for m := range t.batches {
		t.source.fill(iteration, m, t.batches[m])
	}
	for s := range t.copies {
		for _, c := range t.copies[s] {
			c.begin(t.batches)
		}
	}
}

// finish returns the mean loss, adds up the gradients of the copies and changes the
// parameters. All sums are in a fixed order: that of micro-batches, that of routes. With an
// error no parameter has changed.
func (t *trainer) finish() (loss float64, err error) {
	for m := range t.batches {
		loss += t.loss(m)
	}
	for s := range t.copies {
		if err := t.reduce(s); err != nil {
			return 0, err
		}
	}
	t.steps++
	for s := range t.copies {
		for i, c := range t.copies[s] {
			for j, p := range c.parameters {
				t.optimizer.step(p, t.states[s][i][j], t.steps)
			}
		}
	}
	return loss / float64(len(t.batches)), nil
}

// loss returns the loss of a micro-batch whose forwards have run.
func (t *trainer) loss(m int) float64 { return t.batches[m][t.layout.lossPart()].loss }

// reduce gives each copy of a stage the sum of the gradients of all.
func (t *trainer) reduce(s int) error {
	copies := t.copies[s]
	for j, p := range copies[0].parameters {
		for _, c := range copies[1:] {
			for k, g := range c.parameters[j].grad {
				p.grad[k] += g
			}
		}
		if !finite(p.grad) {
			return &NonFiniteError{Stage: s, MicroBatch: -1, Tensor: "the gradient of " + copies[0].nameOf(j)}
		}
		for _, c := range copies[1:] {
			copy(c.parameters[j].grad, p.grad)
		}
	}
	return nil
}

// Parameter is a tensor under training. Its slices are the trainer's own: read them
// between iterations, and write Value to start from other values.
type Parameter struct {
	Part, Layer int    // as in network.Slice
	Name        string // unique in the layer, such as "qkv.weight"
	Rows, Cols  int
	// Value and Gradient are row-major. The gradient is that of the last iteration, of the
	// mean loss over its micro-batches.
	Value, Gradient []float32
}

// parameters lists those of the first copy of each stage, by part and layer.
func (t *trainer) parameters() []Parameter {
	var list []Parameter
	for s := range t.copies {
		c := t.copies[s][0]
		for i, l := range c.layers {
			for _, p := range l.parameters() {
				list = append(list, Parameter{
					Part: c.slice.Part, Layer: c.slice.First + i, Name: p.name,
					Rows: p.rows, Cols: p.cols, Value: p.value, Gradient: p.grad,
				})
			}
		}
	}
	return list
}

// times returns what the layers took in the last iteration, by stage and in the order in
// which they ran; nil without clocks.
func (t *trainer) times() []LayerTime {
	var list []LayerTime
	for s := range t.copies {
		for _, c := range t.copies[s] {
			if c.clock != nil {
				list = append(list, c.clock.times...)
			}
		}
	}
	return list
}

// nameOf names parameter j of a stage, for messages.
func (s *stage) nameOf(j int) string {
	for i, l := range s.layers {
		list := l.parameters()
		if j < len(list) {
			return fmt.Sprintf("%s of layer %d of part %d", list[j].name, s.slice.First+i, s.slice.Part)
		}
		j -= len(list)
	}
	return "?"
}

// NonFiniteError reports a number that is infinite or none at all.
type NonFiniteError struct {
	Operation  string // such as 3F5; "" after the last one
	Stage      int
	MicroBatch int // -1 for none
	Tensor     string
}

func (e *NonFiniteError) Error() string {
	at := ""
	if e.Operation != "" {
		at = e.Operation + ": "
	}
	return fmt.Sprintf("%s%s at stage %d holds a number that is not finite; a smaller learning rate may help", at, e.Tensor, e.Stage)
}
