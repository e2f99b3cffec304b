package main

import (
	"context"

	"github.com/flexpipe/flexpipe/constraints/bound"
	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// remedy says what would fit where no plan does, as the end of a sentence; "" if that
// is not known.
func remedy(ctx context.Context, cfg *config.Config, a *answer) string {
	if a.result.Proof == solve.BoundProof {
		return elsewhere(cfg, a.problem, a.options.choices)
	}
	return portfolio.Remedy(ctx, a.problem)
}

// mostPlaced is the number of rows of the largest problem for which other placements
// are tried.
const mostPlaced = 1 << 12

// elsewhere says which placements by rule would keep the limits of a problem that no
// plan keeps, as the end of a sentence; "" if none does or that is not known.
func elsewhere(cfg *config.Config, problem *model.Problem, choices cssr.Choices) string {
	if len(problem.Rows) > mostPlaced {
		return ""
	}
	var fit []string
	for _, rule := range []config.PlacementRule{config.Linear, config.Loop, config.Vee} {
		choices.Placement = string(rule)
		other, err := cssr.Build(cfg, choices)
		if err == nil && isChain(other.Pipeline) && bound.Infeasible(other) == nil {
			fit = append(fit, string(rule))
		}
	}
	if len(fit) == 0 {
		return ""
	}
	return "; with placement " + joined(fit, "or") + " it fits"
}

// isChain reports whether each stage feeds the next: then one micro-batch after the
// other fits if one alone does.
func isChain(pl *model.Pipeline) bool {
	for s := range pl.Stages {
		after := pl.Stages[s].After
		if s == 0 && len(after) > 0 || s > 0 && (len(after) != 1 || after[0] != s-1) {
			return false
		}
	}
	return true
}
