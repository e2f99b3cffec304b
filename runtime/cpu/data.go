package cpu

import (
	_ "embed"
	"math"
	"math/rand/v2"
)

//go:embed text/river.txt
var text string

// minVocabulary is the smallest vocabulary that has a token for every byte of the text.
const minVocabulary = 128

// streams of random numbers, told apart by the upper half of their second seed.
const (
	streamParameters uint64 = 1 << 56
	streamPlaces     uint64 = 2 << 56
	streamVectors    uint64 = 3 << 56
	streamTeacher    uint64 = 4 << 56
	streamFeatures   uint64 = 5 << 56
)

// A source makes the data of a network, the same for the same seed, iteration and
// micro-batch.
//
//   - gpt: pieces of a text at random places; the target of a position is the next byte.
//   - mlp: normal vectors; wanted is what a fixed random network of two layers makes of them.
//   - two-branch: pieces of the text. A branch with a vocabulary reads the bytes, one without
//     reads vectors that are made of the same bytes by a fixed random table, so that the two
//     views of a sample can be told to belong together.
type source struct {
	layout   *layout
	seed     uint64
	teacher  *teacher    // of an mlp
	features [][]float32 // by part: the table of a branch without vocabulary
	places   []int       // of the samples of a micro-batch in the text

	state  rand.PCG // of random
	random *rand.Rand
}

// featurePlaces is the number of places of a byte that the table of features tells apart.
const featurePlaces = 8

func newSource(l *layout, seed uint64) *source {
	s := &source{
		layout: l, seed: seed,
		features: make([][]float32, len(l.parts)), places: make([]int, l.blueprint.MicroBatchSize),
	}
	s.random = rand.New(&s.state)
	for p := range l.parts {
		h := l.parts[p].stack.Hidden
		switch {
		case h == 0 || l.parts[p].stack.Vocabulary > 0:
		case l.blueprint.Kind == "mlp":
			s.teacher = newTeacher(h, s.rand(streamTeacher))
		default:
			s.features[p] = make([]float32, featurePlaces*minVocabulary*h)
			normal(s.features[p], 1, s.rand(streamFeatures+uint64(p)))
		}
	}
	return s
}

// rand returns random numbers of a stream from its start; those of another one end.
func (s *source) rand(stream uint64) *rand.Rand {
	s.state.Seed(s.seed, stream)
	return s.random
}

// normal fills data with normal numbers of the given deviation.
func normal(data []float32, deviation float64, r *rand.Rand) {
	for i := range data {
		data[i] = float32(r.NormFloat64() * deviation)
	}
}

// newBatch returns an empty batch of a part.
func (s *source) newBatch(p, microBatches int) *batch {
	part := &s.layout.parts[p]
	n, h := part.rows, part.stack.Hidden
	b := &batch{scale: 1 / float32(microBatches)}
	switch {
	case part.stack.Vocabulary > 0:
		b.tokens, b.targets = make([]int32, n), make([]int32, n)
	case h > 0:
		b.input = make([]float32, n*h)
	}
	if s.layout.blueprint.Kind == "mlp" {
		b.wanted = make([]float32, n*h)
	}
	return b
}

// fill makes the data of a micro-batch; batches has one for each part.
func (s *source) fill(iteration, m int, batches []*batch) {
	at := uint64(iteration)<<20 | uint64(m)
	if s.teacher != nil {
		normal(batches[0].input, 1, s.rand(streamVectors+at))
		s.teacher.answer(batches[0].wanted, batches[0].input)
		return
	}
	r := s.rand(streamPlaces + at)
	for i := range s.places {
		s.places[i] = r.IntN(len(text))
	}
	for p, b := range batches {
		part := &s.layout.parts[p]
		sequence := max(1, part.stack.Sequence)
		for i, place := range s.places {
			rows := i * sequence
			switch {
			case b.tokens != nil:
				read(b.tokens[rows:rows+sequence], place)
				read(b.targets[rows:rows+sequence], place+1)
			case b.input != nil:
				h := part.stack.Hidden
				s.describe(b.input[rows*h:(rows+sequence)*h], s.features[p], h, place)
			}
		}
	}
}

// read fills tokens with the text from a place on; after its end it begins again.
func read(tokens []int32, place int) {
	for i := range tokens {
		tokens[i] = int32(text[(place+i)%len(text)])
	}
}

// describe fills rows of width h with vectors for the text from a place on: each row is the
// sum of the table's rows for its bytes and their places, of variance 1.
func (s *source) describe(rows, table []float32, h, place int) {
	sequence := len(rows) / h
	each := max(1, featurePlaces/sequence) // bytes of a row
	scale := float32(1 / math.Sqrt(float64(each)))
	clear(rows)
	for i := range sequence * each {
		entry := (i%featurePlaces*minVocabulary + int(text[(place+i)%len(text)])) * h
		row := rows[i/each*h:][:h]
		for j, x := range table[entry : entry+h] {
			row[j] += float32(x * scale)
		}
	}
}

// A teacher is the function that an mlp has to learn: tanh(x·A)·B with fixed random matrices
// and a narrow middle, of values about 1.
type teacher struct {
	hidden, middle int
	in, out        []float32 // [hidden, middle], [middle, hidden]
	row            []float32
}

func newTeacher(hidden int, r *rand.Rand) *teacher {
	middle := min(hidden, 8)
	t := &teacher{
		hidden: hidden, middle: middle,
		in: make([]float32, hidden*middle), out: make([]float32, middle*hidden), row: make([]float32, middle),
	}
	normal(t.in, 1/math.Sqrt(float64(hidden)), r)
	normal(t.out, 1/math.Sqrt(float64(middle)), r)
	return t
}

func (t *teacher) answer(wanted, input []float32) {
	for len(input) > 0 {
		clear(t.row)
		for i, x := range input[:t.hidden] {
			for k, a := range t.in[i*t.middle:][:t.middle] {
				t.row[k] += float32(x * a)
			}
		}
		row := wanted[:t.hidden]
		clear(row)
		for k, z := range t.row {
			y := float32(math.Tanh(float64(z)))
			for j, b := range t.out[k*t.hidden:][:t.hidden] {
				row[j] += float32(y * b)
			}
		}
		input, wanted = input[t.hidden:], wanted[t.hidden:]
	}
}
