package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/flexpipe/flexpipe/benchmarks/suite"
	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// cell is a line of a results file: one engine on one instance. Value and Bound
// are 0 if there is none.
type cell struct {
	key
	Status  string     `json:"status"` // as in solve.Status, "refused" or "error"
	Value   model.Time `json:"value"`
	Bound   model.Time `json:"bound"`
	Seconds float64    `json:"seconds"` // of the engine; of a peer without the start of Python
	Wall    float64    `json:"wall"`    // of all
	Version string     `json:"version,omitempty"`
	Note    string     `json:"note,omitempty"`
}

// key is what tells cells apart.
type key struct {
	Engine   string  `json:"engine"`
	Instance string  `json:"instance"`
	Sum      string  `json:"sum"` // of the instance's content
	Limit    float64 `json:"limit"`
	Workers  int     `json:"workers"`
	Seed     uint64  `json:"seed"`
}

// readCells returns the cells of a file, the last one of each key, in the order in
// which the keys first appear. A file that does not exist has none.
func readCells(file string) ([]cell, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var cells []cell
	at := map[key]int{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var c cell
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if i, ok := at[c.key]; ok {
			cells[i] = c
			continue
		}
		at[c.key] = len(cells)
		cells = append(cells, c)
	}
	return cells, lines.Err()
}

// measureAll adds the cells that the output lacks, instance by instance.
func measureAll(ctx context.Context, o *options, instances []suite.Instance) error {
	old, err := readCells(o.output)
	if err != nil {
		return err
	}
	done := map[key]bool{}
	for i := range old {
		done[old[i].key] = !o.fresh
	}
	f, err := os.OpenFile(o.output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	for i := range instances {
		for _, name := range o.engines {
			k := keyOf(name, &instances[i], o)
			if done[k] {
				continue
			}
			c, err := measure(ctx, k, &instances[i], o)
			if err != nil {
				return err
			}
			if err := appendCell(f, c); err != nil {
				return err
			}
		}
	}
	return nil
}

func keyOf(engine string, in *suite.Instance, o *options) key {
	return key{engine, in.Name, in.Sum(), o.limit.Seconds(), o.workers, o.seed}
}

func appendCell(f *os.File, c *cell) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	fmt.Printf("%-24s %-10s %-10s [%d, %d] %.2f s %s\n", c.Instance, c.Engine, c.Status, c.Bound, c.Value, c.Seconds, c.Note)
	_, err = f.Write(append(line, '\n'))
	return err
}

// measure runs one cell. What an engine gets wrong is a cell with status "error";
// errors are an interrupt and what concerns the whole run.
func measure(ctx context.Context, k key, in *suite.Instance, o *options) (*cell, error) {
	p, err := in.Problem()
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	begin := time.Now()
	out, err := engines[k.Engine].solve(limited, p, o)
	c := &cell{key: k, Wall: time.Since(begin).Seconds()}
	c.Seconds = c.Wall
	var feature *solve.FeatureError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, os.ErrNotExist):
		return nil, err
	case errors.As(err, &feature):
		c.Status, c.Note = "refused", err.Error()
	case err != nil:
		c.Status, c.Note = "error", err.Error()
	default:
		c.fill(p, out)
	}
	return c, nil
}

// fill takes over an outcome, whose plan is judged once more.
func (c *cell) fill(p *model.Problem, out *outcome) {
	r := out.result
	c.Status, c.Value, c.Bound, c.Version = r.Status.String(), r.Value, r.Bound, out.version
	if out.seconds > 0 {
		c.Seconds = out.seconds
	}
	if r.Plan == nil {
		return
	}
	tl, err := model.Evaluate(p, r.Plan)
	if err == nil {
		err = constraints.Check(p, r.Plan, tl).Err()
	}
	if err == nil && model.Measure(p, r.Plan, tl).Value(p.Pipeline.Objective) != r.Value {
		err = errors.New("the plan does not have the value that the engine says")
	}
	if err != nil {
		c.Status, c.Note = "error", err.Error()
	}
}
