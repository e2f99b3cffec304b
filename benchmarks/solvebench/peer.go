package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// grace is what a peer may take beyond the limit before it is killed: to start, to
// build its model, to print.
const grace = 60 * time.Second

// peer is a script that solves an instance with a solver of others.
type peer struct{ script string }

// answer is the line that a script prints.
type answer struct {
	Status  string       `json:"status"`
	Value   *model.Time  `json:"value"`
	Bound   *model.Time  `json:"bound"`
	Seconds float64      `json:"seconds"`
	Version string       `json:"version"`
	Starts  []model.Time `json:"starts"`
}

func (e peer) solve(ctx context.Context, p *model.Problem, o *options) (*outcome, error) {
	folder, err := os.MkdirTemp("", "solvebench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "instance.json")
	if err := dump(file, p); err != nil {
		return nil, err
	}
	a, err := e.call(ctx, file, o)
	if err != nil {
		return nil, err
	}
	r, err := a.judge(p, o)
	return &outcome{r, a.Seconds, a.Version}, err
}

func (e peer) call(ctx context.Context, file string, o *options) (*answer, error) {
	// The script keeps the limit itself; the context's deadline would cut off its answer.
	ctx, stop := outlive(ctx)
	defer stop()
	limit := strconv.FormatFloat(o.limit.Seconds(), 'f', -1, 64)
	cmd := exec.CommandContext(ctx, o.python, filepath.Join(o.peers, e.script), file,
		"--time-limit", limit, "--workers", strconv.Itoa(o.workers))
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%w; %s/README.md says how to install the peers", err, o.peers)
		}
		return nil, fmt.Errorf("%s: %w: %s", e.script, err, lastLine(messages.Bytes()))
	}
	a := &answer{}
	if err := json.Unmarshal(lastLine(out), a); err != nil {
		return nil, fmt.Errorf("%s: %w", e.script, err)
	}
	return a, nil
}

// outlive returns a context that ends when ctx is canceled, or a while after its
// deadline.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			time.Sleep(grace)
		}
		cancel()
	})
	return late, func() { stop(); cancel() }
}

func lastLine(text []byte) []byte {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return lines[len(lines)-1]
}

// judge makes a result of the answer. The plan is the order of the starts; the
// judge tests it and computes its value. FlexPipe's own bound plays no part.
func (a *answer) judge(p *model.Problem, o *options) (*solve.Result, error) {
	r := &solve.Result{}
	if a.Status == "infeasible" {
		r.Status = solve.Infeasible
		return r, nil
	}
	if a.Starts != nil {
		if len(a.Starts) != p.NumOps() {
			return nil, fmt.Errorf("%d starts for %d operations", len(a.Starts), p.NumOps())
		}
		if _, err := r.Offer(p, planOf(p, a.Starts), "peer"); err != nil {
			return nil, err
		}
		if a.Value == nil || r.Value > *a.Value {
			return nil, fmt.Errorf("the schedule has value %d, not what the peer says", r.Value)
		}
	}
	if a.Bound != nil {
		return r, r.Raise(*a.Bound, "peer", solve.SearchProof)
	}
	return r, nil
}

// planOf returns the plan in which every device runs its operations by start.
func planOf(p *model.Problem, starts []model.Time) *model.Plan {
	plan := &model.Plan{Order: make([][]model.OpID, p.NumDevices())}
	for op := range model.OpID(p.NumOps()) {
		for _, d := range p.Row(op).Devices {
			plan.Order[d] = append(plan.Order[d], op)
		}
	}
	for _, order := range plan.Order {
		slices.SortFunc(order, func(a, b model.OpID) int {
			return cmp.Or(cmp.Compare(starts[a], starts[b]), cmp.Compare(p.Duration(a), p.Duration(b)), cmp.Compare(a, b))
		})
	}
	return plan
}
