package network

// A TwoBranch network runs two stacks side by side on two views of a sample, such as an
// image and its text, and compares what they put out by a contrastive loss: CLIP (Radford
// et al., "Learning Transferable Visual Models From Natural Language Supervision", 2021,
// arXiv:2103.00020). With a joint stack, both outputs also go through that together, as
// in FLAVA (Singh et al., 2022, arXiv:2112.04482).
//
// A branch with a vocabulary has an embedding; a joint stack with one has a head with
// cross entropy, for masked tokens. The contrast is over the micro-batch: over a whole
// batch it would be a point at which all micro-batches meet.
type TwoBranch struct {
	// Branches are the two stacks.
	Branches [2]Stack
	// Joint is the stack over both outputs; nil if there is none.
	Joint *Stack
	// MicroBatchSize is the samples per micro-batch b.
	MicroBatchSize int
	// DType is the element type of matrix products.
	DType DType
	// Shards is the number of devices that share each embedding and head, as in [GPT].
	Shards int
}

func (m TwoBranch) batch() batch { return batch{m.MicroBatchSize, m.DType, m.Shards} }

// branchNames are the names of the branches in errors, as configurations write them.
var branchNames = [2]string{"branches[0]", "branches[1]"}

// Validate returns a [*FieldError] for the first field that is out of range.
func (m TwoBranch) Validate() error {
	b := m.batch()
	for i, branch := range m.Branches {
		if err := checkUntied(branch, branchNames[i], b); err != nil {
			return err
		}
	}
	if m.Joint != nil {
		if err := checkUntied(*m.Joint, "joint", b); err != nil {
			return err
		}
	}
	return checkSize(branchNames[0], m.Branches[0].Layers, m.sizeEstimate())
}

// checkUntied is check for a stack without both ends.
func checkUntied(s Stack, owner string, b batch) error {
	if err := s.check(owner, b); err != nil {
		return err
	}
	if s.TiedEmbedding {
		return &FieldError{owner, "tied_embedding", true, "it has an embedding or a head, not both"}
	}
	return nil
}

// sizeEstimate returns an upper bound of the bytes of the network, safe from overflow.
func (m TwoBranch) sizeEstimate() float64 {
	b, stacks, joint := m.batch(), m.Branches[:], 0.0
	if m.Joint != nil {
		stacks, joint = append(stacks[:2:2], *m.Joint), float64(m.Joint.Hidden)
	}
	size, sum := float64(b.size), 4*float64(b.size)*float64(b.size)
	for _, s := range stacks {
		h, positions := float64(s.Hidden), float64(s.positions())
		sum += 18*(h+1)*(h+joint+4) + size*positions*16*(h+joint)
		if s.attends() {
			sum += s.gpt(b).sizeEstimate()
		} else {
			sum += s.mlp(b).sizeEstimate()
		}
	}
	return sum
}

// MicroBatch returns b samples, and as tokens the positions of both branches.
func (m TwoBranch) MicroBatch() (samples, tokens int) {
	return m.MicroBatchSize, m.MicroBatchSize * (m.Branches[0].positions() + m.Branches[1].positions())
}

// Parts returns the two branches, and the joint stack with the loss as its first layer,
// since that reads both outputs as well; without a joint stack the loss is a part of its
// own, [Beside] the second branch. Vocabulary layers are further parts if devices share
// them. It returns the error of [TwoBranch.Validate].
func (m TwoBranch) Parts() ([]Part, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	var g graph
	var branches [2]int
	for i, name := range [2]string{"branch 0", "branch 1"} {
		s := m.Branches[i]
		blocks := s.blocks(m.batch(), s.Vocabulary == 0)
		if m.Joint == nil { // one vector per sample goes on
			blocks[len(blocks)-1].Output = s.output(m.batch()) / int64(s.positions())
		}
		branches[i] = g.addBlocks(name, blocks, s.ends(m.batch(), true, false))
	}
	if m.Joint == nil {
		g.add(Part{Name: "loss", Layers: []Layer{m.join()}, After: branches[:], Seat: Beside})
		return g.parts, nil
	}
	blocks := m.Joint.blocks(m.batch(), false)
	if m.Joint.Vocabulary == 0 {
		blocks[len(blocks)-1].Output = 0
	}
	g.addBlocks("joint", append([]Layer{m.join()}, blocks...), m.Joint.ends(m.batch(), false, true), branches[:]...)
	return g.parts, nil
}

// join returns the layer that reads both branches: their final norms, a projection of
// each sample's vector to the common width d, and the b×b matrix of similarities, on
// which softmax and cross entropy work along rows and columns; for a joint stack of
// width j, also a projection of all positions of each branch to it.
//
// d is the smaller width, as in CLIP (for ViT-B/32: 768, 512 and 512). In sums over the
// branches, of width h and positions s each, and with n = s before a joint stack, else
// n = 1, since pooling comes before the norm:
//
//	forward          Σ 2bhd + 2b²d + Σ 2bshj
//	backward input   Σ 2bhd + 4b²d + Σ 2bshj
//	backward weight  Σ 2bhd        + Σ 2bshj
//	activation       Σ e·b(2nh + 2d) + 4b²    inputs of norms and products, vectors before
//	                                          and after normalisation, similarities
//	retained         Σ e·b(nh + d + sj)       inputs of products, gradients of outputs
//	parameters       Σ (2h + hd + hj + j) + 1 norms, projections, temperature
func (m TwoBranch) join() Layer {
	b := m.batch()
	size, e := int64(b.size), b.dtype.Bytes()
	d := int64(min(m.Branches[0].Hidden, m.Branches[1].Hidden))
	similarity := 2 * float64(size) * float64(size) * float64(d)
	l := Layer{
		Kind: Join, Name: "join", Activation: 4 * size * size,
		Parameters: 1, StateBytes: b.dtype.StateBytes(),
	}
	for _, branch := range m.Branches {
		h, s, j, n := int64(branch.Hidden), int64(branch.positions()), int64(0), int64(1)
		if m.Joint != nil {
			j, n = int64(m.Joint.Hidden), s
			l.Parameters += j
		}
		l.BackwardWeight += 2 * float64(size) * (float64(h*d) + float64(s)*float64(h*j))
		l.Activation += e * size * (2*n*h + 2*d)
		l.Retained += e * size * (n*h + d + s*j)
		l.Parameters += 2*h + h*d + h*j
	}
	l.Forward = l.BackwardWeight + similarity
	l.BackwardInput = l.BackwardWeight + 2*similarity
	if m.Joint != nil {
		l.Output = m.Joint.output(b)
	}
	return l.keepAll()
}
