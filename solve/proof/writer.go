package proof

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// The words of a proof file; docs/proof.md has the grammar.
const (
	fileFormat   = "flexpipe/proof 1"
	objectiveKey = "objective"
	problemKey   = "problem"
	searchWord   = "search"
	nogoodWord   = "nogood"
	forgetWord   = "forget"
	endWord      = "end"
	noBound      = "none"
	excludedWord = "excluded"
)

// Digest identifies a problem: "sha256:" and the SHA-256, in hexadecimal, of its plan
// file (version 1) with empty orders and without provenance, figures and times. Cost
// O(stages + devices + micro-batches).
func Digest(p *model.Problem) (string, error) {
	h := sha256.New()
	file := model.PlanFile{Problem: p, Plan: &model.Plan{Order: make([][]model.OpID, p.NumDevices())}}
	if err := file.Encode(h); err != nil {
		return "", fmt.Errorf("proof: %w", err)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// Writer is a solve.Trace that writes a proof file. It verifies nothing. What is told
// is the first search of the file, until NewSearch is called. It is for one goroutine.
type Writer struct {
	w        *bufio.Writer
	line     []byte
	err      error
	searches int
	started  bool // the search at hand has a line
	closed   bool
	nogoods  int64
	bound    model.Time // that the proof claims
}

var _ solve.Trace = (*Writer)(nil)

// NewWriter returns a Writer for proofs about a problem. The same proof gives the same
// bytes. It buffers what it writes to w; Close reports the first error.
func NewWriter(w io.Writer, p *model.Problem) *Writer {
	f := &Writer{w: bufio.NewWriterSize(w, 1<<16), bound: model.Absent}
	digest, err := Digest(p)
	f.err = err
	f.add(fileFormat).flush()
	f.add(objectiveKey).add(" ").add(p.Pipeline.Objective.String()).flush()
	f.add(problemKey).add(" ").add(digest).flush()
	return f
}

// NewSearch says that what follows is told by another search, which knows nothing of
// those before and numbers its nogoods from 0.
func (f *Writer) NewSearch() { f.started = false }

// Learn implements solve.Trace. Cost O(facts).
func (f *Writer) Learn(facts []solve.Fact, steps []solve.Step) {
	f.start()
	f.add(nogoodWord)
	for _, fact := range facts {
		f.fact(fact)
	}
	f.flush()
	for k := range steps {
		f.step(&steps[k])
	}
	f.nogoods++
	f.bound = max(f.bound, claim(facts))
}

// claim returns the lower bound that a nogood is, model.Absent if it is none.
func claim(facts []solve.Fact) model.Time {
	switch {
	case len(facts) == 0:
		return solve.Excluded
	case len(facts) == 1 && facts[0].Variable == 0 && !facts[0].AtLeast:
		return facts[0].Value + 1
	}
	return model.Absent
}

// Forget implements solve.Trace.
func (f *Writer) Forget(nogood int64) {
	f.start()
	f.add(forgetWord).number(nogood).flush()
}

// Lower implements solve.Trace. A Writer verifies nothing.
func (f *Writer) Lower() model.Time { return model.Absent }

// Claims returns the largest bound that what was told so far claims: model.Absent if
// none, solve.Excluded if there is no schedule.
func (f *Writer) Claims() model.Time { return f.bound }

// Close ends the file and returns the first error. It does not close what the Writer
// writes to. Nothing may be told afterwards.
func (f *Writer) Close() error {
	if f.closed {
		return f.err
	}
	f.add(endWord).add(" ").add(boundText(f.bound)).number(f.nogoods).flush()
	f.closed = true
	if err := f.w.Flush(); f.err == nil {
		f.err = err
	}
	return f.err
}

func boundText(bound model.Time) string {
	switch bound {
	case model.Absent:
		return noBound
	case solve.Excluded:
		return excludedWord
	}
	return strconv.FormatInt(int64(bound), 10)
}

func (f *Writer) start() {
	if f.closed && f.err == nil {
		f.err = errors.New("proof: told after the end of the file")
	}
	if f.started {
		return
	}
	f.started = true
	f.searches++
	f.add(searchWord).number(int64(f.searches)).flush()
}

func (f *Writer) step(s *solve.Step) {
	f.add(ruleName(s.Rule))
	facts := s.Facts
	switch s.Rule {
	case solve.LearnedRule:
		f.number(s.Nogood)
		facts = nil
	case solve.EdgeRule, solve.MonotoneRule:
		f.number(int64(s.From)).number(int64(s.To))
	case solve.OrderRule:
		f.number(int64(s.From))
	case solve.WindowRule:
		f.number(int64(s.Device)).number(int64(s.Begin)).number(int64(s.End))
	case solve.MemoryRule:
		f.number(int64(s.Device)).number(int64(s.Op))
	case solve.CycleRule:
		for _, op := range s.Ops {
			f.number(int64(op))
		}
	case solve.SpanRule:
		f.number(int64(s.Device))
	}
	if len(facts) > 0 {
		f.add(" :")
	}
	for _, fact := range facts {
		f.fact(fact)
	}
	f.flush()
}

func (f *Writer) fact(fact solve.Fact) {
	f.number(int64(fact.Variable))
	if fact.AtLeast {
		f.add(">=")
	} else {
		f.add("<=")
	}
	f.line = strconv.AppendInt(f.line, int64(fact.Value), 10)
}

// add appends to the line at hand.
func (f *Writer) add(text string) *Writer {
	f.line = append(f.line, text...)
	return f
}

// number appends a space and a number to the line at hand.
func (f *Writer) number(n int64) *Writer {
	f.line = strconv.AppendInt(append(f.line, ' '), n, 10)
	return f
}

// flush ends the line at hand.
func (f *Writer) flush() {
	f.line = append(f.line, '\n')
	if f.err == nil && !f.closed {
		_, f.err = f.w.Write(f.line)
	}
	f.line = f.line[:0]
}
