package network

// A graph collects the parts of a network.
type graph struct{ parts []Part }

// add appends a part and returns its number.
func (g *graph) add(p Part) int {
	g.parts = append(g.parts, p)
	return len(g.parts) - 1
}

// ends says which vocabulary layers a run of blocks has, by the formulas of t.
type ends struct {
	t               transformer
	embedding, head bool
}

// addBlocks appends blocks with their embedding and head, in one part or, if devices
// share these, as parts of their own before and after it. It returns the number of the
// part with the blocks. after are the parts that the first layer reads, or the first
// block beside the embedding if that is a part of its own: there it waits for nobody.
func (g *graph) addBlocks(name string, blocks []Layer, e ends, after ...int) int {
	shared := e.t.shards > 0
	layers := blocks
	switch {
	case e.embedding && shared:
		part := g.add(Part{Name: joined(name, "embedding"), Layers: []Layer{e.t.embedding()}, Seat: Everywhere})
		after = append([]int{part}, after...)
	case e.embedding:
		first := e.t.embedding()
		first.Output += blocks[0].Context // what a decoder attends to passes through
		layers = append([]Layer{first}, layers...)
	}
	if e.head && !shared {
		layers = append(layers, e.t.head())
	}
	at := g.add(Part{Name: name, Layers: layers, After: after})
	if e.head && shared {
		layers[len(layers)-1].Output = 0 // the broadcast at the start of the head carries it
		g.add(Part{Name: joined(name, "head"), Layers: []Layer{e.t.head()}, After: []int{at}, Seat: Everywhere})
	}
	return at
}

// joined joins two names, the first of which may be empty.
func joined(part, layer string) string {
	if part == "" {
		return layer
	}
	return part + " " + layer
}

// concatenated returns the layers of all parts in order.
func concatenated(parts []Part) []Layer {
	var layers []Layer
	for p := range parts {
		layers = append(layers, parts[p].Layers...)
	}
	return layers
}
