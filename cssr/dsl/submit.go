package dsl

import (
	"fmt"
	"slices"
	"time"

	"go.starlark.net/starlark"

	"github.com/flexpipe/flexpipe/cssr"
)

// build is build(p): ask for the plan that the pipeline describes.
func (r *run) build(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var p *pipeline
	if err := unpack(b, args, kwargs, parameters{"pipeline", &p}); err != nil {
		return nil, err
	}
	return p, r.submit(thread, p, "build")
}

var solveModes = []string{"auto", "exact", "heuristic"}

// solve is solve(p, mode = "auto", time_limit = None): ask for the best plan.
func (r *run) solve(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var p *pipeline
	var request cssr.SolveRequest
	var limit string
	if err := unpack(b, args, kwargs, parameters{"pipeline", &p, "mode?", &request.Mode, "time_limit??", &limit}); err != nil {
		return nil, err
	}
	if request.Mode != "" && !slices.Contains(solveModes, request.Mode) {
		return nil, &fault{arg: "mode", index: 2, problem: fmt.Sprintf("there is no mode %q", request.Mode), remedy: suggest(request.Mode, solveModes) + "use " + list(solveModes, "or")}
	}
	if limit != "" {
		var err error
		if request.TimeLimit, err = time.ParseDuration(limit); err != nil || request.TimeLimit <= 0 {
			return nil, &fault{arg: "time_limit", index: 3, problem: fmt.Sprintf("%q is no time", limit), remedy: `write a duration above 0, such as "30s"`}
		}
	}
	p.spec.Solve(request)
	return p, r.submit(thread, p, "solve")
}

// tune is tune(p, placement = [...], chunks = [...], ...): ask for the best
// point of a space. Each dimension is a list; what is left out is the tuner's choice.
func (r *run) tune(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var p *pipeline
	var s cssr.Space
	if err := unpack(b, args, kwargs, parameters{"pipeline", &p,
		"placement?", words{&s.Placements}, "chunks?", counts{&s.Chunks}, "backward?", words{&s.Backwards},
		"vocabulary?", words{&s.Vocabulary}, "micro_batch_size?", counts{&s.MicroBatchSizes}, "partition?", words{&s.Partitions},
		"recompute?", words{&s.Recompute}, "prefer?", priorities{&s.Types}, "traverse?", words{&s.Traversals}, "group?", counts{&s.Groups},
		"in_flight?", factors{&s.InFlight}, "weights?", words{&s.Weights}, "patience?", counts{&s.Patience}}); err != nil {
		return nil, err
	}
	p.spec.Tune(s)
	return p, r.submit(thread, p, "tune")
}

// The dimensions of a space, as starlark.UnpackArgs fills them.
type (
	words      struct{ to *[]string }
	counts     struct{ to *[]int }
	factors    struct{ to *[]float64 }
	priorities struct{ to *[][]string }
)

// Unpack takes a list of texts, or one text.
func (d words) Unpack(v starlark.Value) (err error) {
	*d.to, err = texts(nil, plural(v), 0)
	return err
}

// Unpack takes a list of whole numbers, or one.
func (d counts) Unpack(v starlark.Value) (err error) {
	*d.to, err = wholes(nil, plural(v), 0)
	return err
}

// Unpack takes a list of numbers, or one.
func (d factors) Unpack(v starlark.Value) error {
	entries, err := spread(nil, plural(v), 0)
	for _, x := range entries {
		f, ok := starlark.AsFloat(x)
		if !ok {
			return fmt.Errorf("%s is not a number", short(x))
		}
		*d.to = append(*d.to, f)
	}
	return err
}

// Unpack takes a list of priorities such as "B > F".
func (d priorities) Unpack(v starlark.Value) error {
	entries, err := texts(nil, plural(v), 0)
	for _, x := range entries {
		*d.to = append(*d.to, ranking(x))
	}
	return err
}

// plural keeps functions out of where lists belong: they are None there.
func plural(v starlark.Value) starlark.Value {
	if _, isFunction := v.(starlark.Callable); isFunction {
		return starlark.None
	}
	return v
}
