package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
)

// report is the comparison on one instance.
type report struct {
	Instance string  `json:"instance"`
	What     string  `json:"what"`
	Main     int     `json:"main_micro_batches"`
	Layer    float64 `json:"layer_seconds"` // work of one block for a micro-batch
	Cells    []cell  `json:"cells"`
}

// cell is what one planner reaches in one setting.
type cell struct {
	Row          string  `json:"row"`
	Title        string  `json:"title"`
	MicroBatches int     `json:"micro_batches"`
	Memory       memory  `json:"memory"` // which limit
	Limit        string  `json:"limit"`  // what that is
	Seconds      float64 `json:"seconds,omitempty"`
	Ratio        float64 `json:"ratio,omitempty"`         // seconds / seconds of FlexPipe in the same setting
	BoundSeconds float64 `json:"bound_seconds,omitempty"` // no plan with the same choices is faster
	Status       string  `json:"status,omitempty"`
	Load         float64 `json:"load_layers,omitempty"` // work of the busiest device for a micro-batch, in blocks
	Peak         int64   `json:"peak_bytes,omitempty"`
	Detail       string  `json:"detail,omitempty"`
	Reason       string  `json:"reason,omitempty"` // why there is no plan

	found *found
}

// compare runs all planners on an instance: without memory limits for each count of
// micro-batches, and within them for the main one.
func compare(ctx context.Context, in *instance, o *options, log io.Writer) (*report, error) {
	cfg, err := in.load(o.examples)
	if err != nil {
		return nil, err
	}
	r := &report{Instance: cfg.Name, What: in.what, Main: o.main}
	s, err := newSetting(ctx, cfg, o.main, configured)
	if err != nil {
		return nil, err
	}
	if r.Layer, err = s.layerTime(); err != nil {
		return nil, err
	}
	for _, m := range []memory{unlimited, equal, configured} {
		if err := r.add(ctx, cfg, o.main, m, o, log); err != nil {
			return nil, err
		}
	}
	for _, count := range o.counts {
		if count == o.main {
			continue
		}
		if err := r.add(ctx, cfg, count, unlimited, o, log); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// add runs all planners in one setting.
func (r *report) add(ctx context.Context, cfg *config.Config, count int, m memory, o *options, log io.Writer) error {
	s, err := newSetting(ctx, cfg, count, m)
	if err != nil {
		return err
	}
	limit, err := s.limitText()
	if err != nil {
		return err
	}
	var cells []cell
	keep := func(key, title string, f *found) {
		c := r.cell(key, title, f, count)
		c.Memory, c.Limit = m, limit
		cells = append(cells, c)
		fmt.Fprintf(log, "%s, %d micro-batches, %s, %s: %s\n", r.Instance, count, limit, title, c.text())
	}
	best := &found{reason: "none of them fits"}
	for i := range rows {
		f, err := rows[i].find(ctx, s, o)
		if err != nil {
			return err
		}
		if rows[i].whole && f.value() < best.value() {
			best = f
		}
		keep(rows[i].key, rows[i].title, f)
	}
	keep(wholeLayers, "best of the balanced", best)
	if count == o.main {
		f, err := s.tuned(ctx, cssr.Space{Vocabulary: []string{"none"}}, o)
		if err != nil {
			return err
		}
		keep(tunedWhole, "FlexPipe, layers whole", f)
	}
	mine, err := s.tuned(ctx, cssr.Space{}, o)
	if err != nil {
		return err
	}
	keep(ours, "FlexPipe", mine)
	for i := range cells {
		if mine := cells[len(cells)-1].Seconds; mine > 0 {
			cells[i].Ratio = cells[i].Seconds / mine
		}
	}
	r.Cells = append(r.Cells, cells...)
	return ctx.Err()
}

// cell makes a cell of a plan.
func (r *report) cell(key, title string, f *found, count int) cell {
	c := cell{Row: key, Title: title, MicroBatches: count, Detail: f.detail, Reason: f.reason, found: f}
	if f.result == nil {
		return c
	}
	m := f.result.Metrics
	c.Seconds, c.BoundSeconds, c.Status = f.value(), seconds(f.problem, f.result.Bound), f.result.Status.String()
	c.Load = seconds(f.problem, m.Ideal) / float64(count) / r.Layer
	for d := range m.Devices {
		c.Peak = max(c.Peak, inBytes(f.problem, m.Devices[d].Peak))
	}
	return c
}

func (c *cell) text() string {
	if c.Seconds == 0 {
		return c.Reason
	}
	return fmt.Sprintf("%.3f s, bound %.3f s, %.1f layers, %s", c.Seconds, c.BoundSeconds, c.Load, c.Detail)
}

// at returns the cell of a row in a setting, nil if there is none.
func (r *report) at(key string, count int, m memory) *cell {
	i := slices.IndexFunc(r.Cells, func(c cell) bool { return c.Row == key && c.MicroBatches == count && c.Memory == m })
	if i < 0 {
		return nil
	}
	return &r.Cells[i]
}
