package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/lcg"
	"github.com/flexpipe/flexpipe/solve/portfolio"
	"github.com/flexpipe/flexpipe/solve/proof"
)

// checkProof refuses --proof where nothing tells a search proof.
func (o *solveOptions) checkProof() error {
	const none = "--proof: %s, so there is no search proof to write; leave one of them out"
	switch {
	case o.proof == "":
	case o.schedule != nil:
		return fmt.Errorf(none, "--schedule builds one plan without a search")
	case o.mode == portfolio.Heuristic:
		return fmt.Errorf(none, "--mode heuristic proves nothing")
	case o.engine != "" && o.engine != lcg.Name:
		return fmt.Errorf("--proof: engine %s does not tell the steps of its search; use --engine %s", o.engine, lcg.Name)
	}
	return nil
}

// proofFile collects the proofs of searches that run side by side, each in a
// temporary file of its own. One of them, the best, becomes the proof file: the
// others know nothing that it does not prove.
type proofFile struct {
	problem  *model.Problem
	compress bool
	dir      string // of the temporary files

	mu       sync.Mutex
	sections []*section
	err      error // the first that kept a section from its file
}

// section is the proof of one search.
type section struct {
	*proof.Writer
	file   *os.File
	left   bool         // the file is still in its directory
	packed *gzip.Writer // nil: not compressed
}

func newProofFile(problem *model.Problem, name string) *proofFile {
	f := &proofFile{problem: problem, compress: strings.HasSuffix(name, ".gz")}
	if target, err := findTarget(name); err == nil && !target.stream && name != standard {
		f.dir = filepath.Dir(target.path)
	}
	return f
}

// begin returns what takes the proof of one more search.
func (f *proofFile) begin() solve.Trace {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := os.CreateTemp(f.dir, ".flexpipe-*.tmp")
	if err != nil {
		f.err = errors.Join(f.err, err)
		return proof.NewWriter(io.Discard, f.problem)
	}
	// Without a name the file vanishes however the program ends. Not every system can
	// take it away so early.
	s := &section{file: file, left: os.Remove(file.Name()) != nil}
	if f.compress {
		s.packed, _ = gzip.NewWriterLevel(file, gzip.BestSpeed) // it is the search that waits
		s.Writer = proof.NewWriter(s.packed, f.problem)
	} else {
		s.Writer = proof.NewWriter(file, f.problem)
	}
	f.sections = append(f.sections, s)
	return s
}

// discard closes and removes the temporary files.
func (f *proofFile) discard() {
	for _, s := range f.sections {
		s.file.Close()
		if s.left {
			os.Remove(s.file.Name())
		}
	}
}

// best returns the section that proves the most, nil if none proves more than a bound.
func (f *proofFile) best(bound model.Time) *section {
	var best *section
	for _, s := range f.sections {
		if claims := s.Claims(); claims > bound {
			best, bound = s, claims
		}
	}
	return best
}

// write writes a section to the proof file; nil is a proof without a search.
func (f *proofFile) write(w io.Writer, s *section) error {
	if s == nil {
		return f.writeEmpty(w)
	}
	if err := s.Close(); err != nil {
		return err
	}
	if s.packed != nil {
		if err := s.packed.Close(); err != nil {
			return err
		}
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, s.file)
	return err
}

func (f *proofFile) writeEmpty(w io.Writer) error {
	if !f.compress {
		return proof.NewWriter(w, f.problem).Close()
	}
	packed := gzip.NewWriter(w)
	return errors.Join(proof.NewWriter(packed, f.problem).Close(), packed.Close())
}

// writeProof writes the proof file, and says what it proves.
func (p *program) writeProof(a *answer) error {
	f, r, name := a.proof, a.result, a.options.proof
	if f == nil {
		return nil
	}
	if f.err != nil {
		return (&target{name: name}).explain(f.err)
	}
	var s *section
	if r.Status != solve.Infeasible || r.Proof != solve.BoundProof {
		s = f.best(a.recordedBound()) // what check knows by itself needs no proof
	}
	if err := p.write(name, func(w io.Writer) error { return f.write(w, s) }); err != nil {
		return err
	}
	p.note(a.options.quiet, "%s: %s", wordFor(name), a.proofText(s))
	return nil
}

// proofText says what a proof file proves.
func (a *answer) proofText(s *section) string {
	objective := a.problem.Pipeline.Objective
	unverified := ""
	if a.result.Proof == solve.SearchProof {
		unverified = ", not verified so far,"
	}
	switch r := a.result; {
	case s == nil && r.Status == solve.Infeasible:
		return "no search, because that no plan exists is proved without one"
	case s == nil:
		return fmt.Sprintf("no search, because flexpipe check proves the bound of %s without one", a.problem.FormatTime(a.recordedBound()))
	case s.Claims() == solve.Excluded:
		return "proof" + unverified + " that no plan exists"
	}
	return fmt.Sprintf("proof%s that no plan has a %s below %s", unverified,
		objective, a.problem.FormatTime(s.Claims()))
}
