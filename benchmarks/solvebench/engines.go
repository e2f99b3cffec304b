package main

import (
	"context"
	"maps"
	"slices"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/lcg"
	"github.com/flexpipe/flexpipe/solve/portfolio"
	"github.com/flexpipe/flexpipe/solve/sat"
)

// engine solves a problem within the context's deadline.
type engine interface {
	solve(ctx context.Context, p *model.Problem, o *options) (*outcome, error)
}

// outcome is what an engine says. A zero seconds means: as long as the call took.
type outcome struct {
	result  *solve.Result
	seconds float64
	version string
}

// engines is the table of all engines.
var engines = map[string]engine{
	"portfolio": portfolioEngine{},
	"cpsat":     peer{"cpsat.py"},
	"z3":        peer{"z3peer.py"},
	"cbc":       peer{"cbc.py"},
	"lcg":       solver{lcg.New()},
	"sat":       solver{sat.New()},
}

func engineNames() []string { return slices.Sorted(maps.Keys(engines)) }

// portfolioEngine is what flexpipe solve runs.
type portfolioEngine struct{}

func (portfolioEngine) solve(ctx context.Context, p *model.Problem, o *options) (*outcome, error) {
	r, err := portfolio.Solve(ctx, p, portfolio.Options{Seed: o.seed, Workers: o.workers})
	return &outcome{result: r}, err
}

// solver is one of FlexPipe's engines on its own, without a plan or bound to start
// from.
type solver struct{ solve.Solver }

func (s solver) solve(ctx context.Context, p *model.Problem, o *options) (*outcome, error) {
	if err := s.Refuses(p); err != nil {
		return nil, err
	}
	r, err := s.Solver.Solve(ctx, p, solve.Options{Seed: o.seed, Workers: o.workers})
	return &outcome{result: r}, err
}

var _ engine = solver{}
