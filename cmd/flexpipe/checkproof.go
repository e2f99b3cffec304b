package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/proof"
)

// The rule of check about a proof file.
const (
	ruleProof      = "proof"
	proofStatement = "Every step of the search proof follows by its rule, and the proof shows the bound that it claims."
)

// proofVerdict is what check finds out about a proof file.
type proofVerdict struct {
	found proof.Result // nothing if the proof is wrong
	fault string       // what is wrong, with the line; "": nothing
}

// verify verifies the proof file of --proof, and takes over the bound that it proves.
func (p *program) verify(ctx context.Context, v *verdict, name string) error {
	ctx, stop := p.interruptible(ctx)
	defer stop()
	in, err := p.openProof(name)
	if err != nil {
		return err
	}
	defer in.Close()
	found, err := proof.Verify(ctx, v.file.Problem, in)
	v.proof = &proofVerdict{found: found}
	var wrong *proof.FileError
	switch {
	case err == nil:
		return v.takeOver()
	case errors.Is(context.Cause(ctx), errInterrupted):
		return &exitError{exitInterrupted, errors.New("interrupted, the proof is not verified")}
	case !errors.As(err, &wrong):
		return &placedError{displayName(name), fmt.Errorf("the proof cannot be verified: %w", err)}
	}
	where := fmt.Sprintf("%s:%d:%d", displayName(name), wrong.Line, wrong.Column)
	switch wrong.Line {
	case 1:
		return &placedError{where, errors.New("this is no proof file; flexpipe solve --proof writes one")}
	case 2, 3:
		return &placedError{where, errors.New("this proof is about another problem than the plan; take one that flexpipe solve wrote together with it")}
	}
	v.proof.fault = fmt.Sprintf("%s: %v", where, wrong.Err)
	return nil
}

// openProof opens a proof file or standard input, also a compressed one.
func (p *program) openProof(name string) (io.ReadCloser, error) {
	source := io.NopCloser(p.in)
	if name != standard {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("reading proof: %w", err)
		}
		source = f
	}
	buffered := bufio.NewReader(source)
	reader := io.Reader(buffered)
	if head, _ := buffered.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			source.Close()
			return nil, &placedError{displayName(name), fmt.Errorf("reading proof: %w", err)}
		}
		reader = unpacked
	}
	return struct {
		io.Reader
		io.Closer
	}{reader, source}, nil
}

// takeOver makes the bound that the proof proves that of the verdict, if it is higher.
func (v *verdict) takeOver() error {
	p, proved := v.file.Problem, v.proof.found.Bound
	if v.metrics != nil && !v.brokenRules() && proved > v.metrics.Value(p.Pipeline.Objective) {
		return &exitError{exitFailure, errors.New("internal error: the judge accepts the plan, and the verified proof excludes it")}
	}
	if proved > v.bound.Value && proved != solve.Excluded {
		v.bound = bound.Bound{Value: proved, Device: -1, Reason: "a search proof excludes every smaller value, every step verified"}
	}
	return nil
}

// bestByProof reports whether the proof shows that no plan is better.
func (v *verdict) bestByProof() bool {
	return v.proof != nil && v.metrics != nil && !v.brokenRules() &&
		v.proof.found.Bound == v.metrics.Value(v.file.Problem.Pipeline.Objective)
}

// proofText says what the proof file proves.
func (v *verdict) proofText() string {
	r := &v.proof.found
	work := fmt.Sprintf(" (%s, %s verified)", model.Plural(int(r.Nogoods), "nogood"), model.Plural(int(r.Steps), "step"))
	switch {
	case v.proof.fault != "":
		return "proves nothing"
	case r.Bound == solve.Excluded:
		return "no plan exists, by a verified search proof" + work
	case r.Bound == model.Absent:
		return "valid, but holds no bound" + work
	case v.bestByProof():
		return "optimal, by a verified search proof" + work
	}
	return fmt.Sprintf("no plan has a %s below %s, by a verified search proof%s",
		v.file.Problem.Pipeline.Objective, v.file.Problem.FormatTime(r.Bound), work)
}

// proofJSON is what a proof file proves, version 1.
type proofJSON struct {
	OK      bool   `json:"ok"`
	Bound   any    `json:"bound"`   // null: none
	NoPlan  bool   `json:"no_plan"` // it proves that no plan exists
	Optimal bool   `json:"optimal"` // it proves that no plan is better than this one
	Nogoods int64  `json:"nogoods"` // verified
	Steps   int64  `json:"steps"`   // verified
	Reason  string `json:"reason"`  // what is wrong; empty: nothing
}

func (v *verdict) proofJSON() *proofJSON {
	if v.proof == nil {
		return nil
	}
	r := &v.proof.found
	j := &proofJSON{
		OK: v.proof.fault == "", NoPlan: r.Bound == solve.Excluded, Optimal: v.bestByProof(),
		Nogoods: r.Nogoods, Steps: r.Steps, Reason: v.proof.fault,
	}
	if r.Bound != model.Absent && r.Bound != solve.Excluded {
		j.Bound = number(v.file.Problem.Pipeline.TimeUnit, r.Bound)
	}
	return j
}
