package config

import (
	"fmt"
	"maps"
	"slices"
)

// Limits on the numbers of a network. They keep four times a width within 31 bits.
const (
	maxLayers = 1 << 16
	maxWidth  = 1 << 28
)

// kindKeys are the keys of a model beside kind, micro_batch_size and dtype.
var kindKeys = map[ModelKind][]string{
	GPT:            {"layers", "hidden", "heads", "sequence", "vocabulary", "feed_forward", "tied_embedding", "vocabulary_sharding"},
	MLP:            {"layers", "hidden", "sequence", "feed_forward"},
	EncoderDecoder: {"encoder", "decoder", "vocabulary_sharding"},
	TwoBranch:      {"branches", "joint", "loss", "vocabulary_sharding"},
}

// readModel reads the network.
func (d *decoder) readModel(v value) bool {
	if !v.mapping("write a mapping such as {kind: gpt, layers: 24, ...}") {
		return false
	}
	kind := v.get("kind")
	if kind.absent() {
		kind.failMissing("write gpt, mlp, encoder-decoder or two-branch")
		return false
	}
	model := &Model{MicroBatchSize: 1, DType: BF16}
	var ok bool
	if model.Kind, ok = word(kind, GPT, MLP, EncoderDecoder, TwoBranch); !ok {
		return false
	}
	refuseForeignKeys(v, model.Kind)
	if size := v.get("micro_batch_size"); !size.absent() {
		model.MicroBatchSize, ok = size.whole(1, maxWidth)
	}
	if dtype := v.get("dtype"); !dtype.absent() {
		var known bool
		model.DType, known = word(dtype, BF16, FP16, FP32)
		ok = ok && known
	}
	ok = model.readParts(v) && ok
	ok = ok && model.readSharding(v.get("vocabulary_sharding"))
	d.config.Model = model
	return ok
}

// readSharding reads where the vocabulary layers are computed.
func (m *Model) readSharding(v value) (ok bool) {
	m.VocabularySharding = VocabularyNone
	if v.absent() {
		return true
	}
	m.VocabularySharding, ok = word(v, VocabularyNone, VocabularyStage, VocabularyPasses)
	if ok && m.VocabularySharding == VocabularyPasses && m.Kind != GPT {
		v.fail("passes over the vocabulary are known for kind gpt only", "write stage or none")
		return false
	}
	if ok && m.VocabularySharding != VocabularyNone && m.Kind != MLP && !m.HasVocabulary() {
		v.fail("no part of the network has a vocabulary to share", "give vocabulary, or leave it out")
		return false
	}
	return ok
}

// refuseForeignKeys fails for keys that belong to other kinds of networks.
func refuseForeignKeys(v value, kind ModelKind) {
	foreign := map[string]bool{}
	for _, keys := range kindKeys {
		for _, key := range keys {
			foreign[key] = true
		}
	}
	for _, key := range kindKeys[kind] {
		delete(foreign, key)
	}
	for _, key := range slices.Sorted(maps.Keys(foreign)) {
		if part := v.get(key); !part.absent() {
			part.fail("does not belong to kind "+string(kind), "leave it out")
		}
	}
}

// readParts reads the runs of equal layers that make up the network.
func (m *Model) readParts(v value) bool {
	switch m.Kind {
	case EncoderDecoder:
		encoder := m.addPart(v.get("encoder"), Encoder)
		return m.addPart(v.get("decoder"), Decoder) && encoder
	case TwoBranch:
		return m.readBranches(v)
	}
	part, ok := readLayers(v, m.Kind, m.Kind == GPT)
	part.Role = Body
	m.Parts = []Part{part}
	return ok
}

// readBranches reads two branches, what joins them, and the loss.
func (m *Model) readBranches(v value) bool {
	const remedy = "write a list of two parts such as {layers: 12, hidden: 768, heads: 12, sequence: 77}"
	branches := v.get("branches")
	if branches.absent() {
		branches.failMissing(remedy)
		return false
	}
	items, ok := branches.items(remedy)
	if !ok {
		return false
	}
	if len(items) != 2 {
		branches.fail(plural(len(items), "branch")+" in a two-branch network", remedy)
		return false
	}
	first := m.addPart(items[0], Branch)
	ok = m.addPart(items[1], Branch) && first
	if joint := v.get("joint"); !joint.absent() {
		ok = m.addPart(joint, Joint) && ok
	}
	m.Loss = Contrastive
	if loss := v.get("loss"); !loss.absent() {
		_, known := word(loss, Contrastive)
		ok = ok && known
	}
	return ok
}

// addPart reads one part of a network of several.
func (m *Model) addPart(v value, role Role) bool {
	if v.absent() {
		v.failMissing("write a part such as {layers: 12, hidden: 768, heads: 12, sequence: 512}")
		return false
	}
	if !v.mapping("write a part such as {layers: 12, hidden: 768, heads: 12, sequence: 512}") {
		return false
	}
	kind := GPT
	if written := v.get("kind"); !written.absent() {
		var ok bool
		if kind, ok = word(written, GPT, MLP); !ok {
			return false
		}
		if kind == MLP && role == Decoder {
			written.fail("an mlp cannot attend to the encoder", "use gpt")
			return false
		}
	}
	refuseForeignKeys(v, kind)
	part, ok := readLayers(v, kind, false)
	if ok && part.TiedEmbedding && role != Decoder {
		v.get("tied_embedding").fail("the "+string(role)+" has an embedding or a head, not both", "leave it out")
		ok = false
	}
	part.Role = role
	m.Parts = append(m.Parts, part)
	return ok
}

// readLayers reads the sizes of a run of equal layers. vocabulary says that it must
// have one.
func readLayers(v value, kind ModelKind, vocabulary bool) (part Part, ok bool) {
	r := sizeReader{from: v, ok: true}
	part.Kind = kind
	part.Layers = r.required("layers", maxLayers)
	part.Hidden = r.required("hidden", maxWidth)
	if kind == GPT {
		part.Heads = r.required("heads", maxWidth)
		part.Sequence = r.required("sequence", maxWidth)
	} else {
		part.Sequence = r.optional("sequence", 1)
	}
	if vocabulary {
		part.Vocabulary = r.required("vocabulary", maxWidth)
	} else {
		part.Vocabulary = r.optional("vocabulary", 0)
	}
	part.FeedForward = r.optional("feed_forward", 4*part.Hidden)
	ok = r.ok && part.checkHeads(v.get("heads"))
	return part, part.readTied(v.get("tied_embedding")) && ok
}

// checkHeads fails when the heads do not share the width equally.
func (p *Part) checkHeads(v value) bool {
	if p.Heads == 0 || p.Hidden%p.Heads == 0 {
		return true
	}
	v.fail(fmt.Sprintf("%d heads do not divide hidden %d", p.Heads, p.Hidden), "write a divisor of hidden")
	return false
}

// readTied reads whether embedding and head share their weights.
func (p *Part) readTied(v value) (ok bool) {
	if v.absent() {
		return true
	}
	p.TiedEmbedding, ok = v.flag()
	if ok && p.TiedEmbedding && p.Vocabulary == 0 {
		v.fail("there is no embedding to tie", "give vocabulary, or leave it out")
		return false
	}
	return ok
}

// sizeReader reads sizes of a network one after the other and remembers whether all
// of them could be read.
type sizeReader struct {
	from value
	ok   bool
}

// required reads a number from 1 to high that must be given.
func (r *sizeReader) required(key string, high int) int {
	v := r.from.get(key)
	if v.absent() {
		v.failMissing(fmt.Sprintf("write a whole number from 1 to %d", high))
		r.ok = false
		return 0
	}
	n, ok := v.whole(1, high)
	r.ok = r.ok && ok
	return n
}

// optional reads a number that defaults to fallback.
func (r *sizeReader) optional(key string, fallback int) int {
	v := r.from.get(key)
	if v.absent() {
		return fallback
	}
	n, ok := v.whole(1, maxWidth)
	r.ok = r.ok && ok
	return n
}
