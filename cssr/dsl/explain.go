package dsl

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
)

// located returns what an error means in terms of the script: at the call of the
// pipeline that is to be mended, or where it was made.
func (r *run) located(p *pipeline, err error) *Error {
	if e := r.explain(p, err); e != nil {
		return e
	}
	return r.at(p.at("solve", "build", "tune"), &fault{problem: err.Error(), cause: err})
}

// explain is located for errors that have their place in the script; nil for others.
func (r *run) explain(p *pipeline, err error) *Error {
	var all config.Errors
	var one *config.Error
	var choice *cssr.ChoiceError
	var policy *cssr.PolicyError
	var order *cssr.OrderError
	var verbs *cssr.SpecError
	var memory *cssr.MemoryError
	switch {
	case errors.As(err, &order):
		return r.orderError(p, order)
	case errors.As(err, &all):
		return r.configErrors(p, all)
	case errors.As(err, &one):
		return r.configError(p, one)
	case errors.As(err, &choice):
		return r.choiceError(p, choice, choice.Problem, choice.Remedy)
	case errors.As(err, &policy):
		return r.at(p.at(policy.Key), &fault{problem: cssr.VerbOf(policy.Key) + ": " + policy.Problem, remedy: policy.Remedy, cause: err})
	case errors.As(err, &verbs):
		return r.at(p.at(verbs.Verb), &fault{problem: verbs.Problem, remedy: verbs.Remedy, cause: err})
	case errors.As(err, &memory) && p.has("memory"):
		return r.at(p.at("memory"), &fault{problem: err.Error(), remedy: "allow more", cause: err})
	}
	return nil
}

// has reports whether the script gives a key.
func (p *pipeline) has(key string) bool { return p.sites[key].line > 0 }

// at returns the site of the first of the keys that the script gives.
func (p *pipeline) at(keys ...string) site {
	for _, key := range keys {
		if p.has(key) {
			return p.sites[key]
		}
	}
	return p.sites[""]
}

// configErrors reports all refusals of a configuration, in the order of their places.
func (r *run) configErrors(p *pipeline, list config.Errors) *Error {
	var all []*Error
	for _, e := range list {
		all = append(all, r.configError(p, e))
	}
	slices.SortStableFunc(all, func(a, b *Error) int {
		if a.File != b.File {
			return strings.Compare(a.File, b.File)
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	all[0].More = all[1:]
	return all[0]
}

// configError reports a refusal of a configuration: in the file that has the key, or at
// the call that gives it.
func (r *run) configError(p *pipeline, e *config.Error) *Error {
	var choice *cssr.ChoiceError
	if errors.As(e.Cause, &choice) && p.has(choiceKey(choice)) {
		return r.choiceError(p, choice, e.Problem, e.Remedy)
	}
	problem := e.Problem
	if e.Key != "" {
		problem = e.Key + ": " + problem
	}
	if e.Line > 0 {
		return &Error{File: e.File, Line: e.Line, Column: e.Column, Source: lineOf(r.files[e.File], e.Line), Problem: problem, Remedy: e.Remedy, Cause: e}
	}
	return r.at(p.keySite(e.Key), &fault{problem: problem, remedy: e.Remedy, cause: e})
}

// keySite returns the site of what stands at a path of the configuration.
func (p *pipeline) keySite(path string) site {
	top, rest := cut(path)
	if top != "operations" {
		return p.at(top).key(path)
	}
	index, rest := cut(rest)
	number, err := strconv.Atoi(strings.Trim(index, "[]"))
	if err != nil {
		return p.at(top).key(path)
	}
	if added := fmt.Sprintf("operations+%d", number-p.own()); p.has(added) {
		return p.at(added).key(strings.TrimPrefix(rest, "."))
	}
	return p.at(top).key(path)
}

// choiceError reports a choice at the call that makes it.
func (r *run) choiceError(p *pipeline, choice *cssr.ChoiceError, problem, remedy string) *Error {
	if !strings.Contains(problem, choice.Choice) {
		problem = choice.Choice + ": " + problem
	}
	problem = strings.Replace(problem, "split-stages", "chunks", 1)
	return r.at(p.at(choiceKey(choice), "placement"), &fault{problem: problem, remedy: remedy, cause: choice})
}

// choiceKey returns the key of a choice.
func choiceKey(choice *cssr.ChoiceError) string {
	key, _, _ := strings.Cut(choice.Choice, " ")
	if key == "split-stages" {
		return "chunks"
	}
	return key
}

// orderError reports a fault of an explicit order at the call that gives that part of it.
func (r *run) orderError(p *pipeline, e *cssr.OrderError) *Error {
	where := p.at("order")
	parts := p.orders[e.Device]
	for i, part := range parts {
		if e.Position < part.end || i == len(parts)-1 {
			where = part.site.argument("operations", 2)
			break
		}
	}
	if e.Position < 0 && len(parts) > 0 {
		where = parts[len(parts)-1].site.argument("device", 1)
	}
	return r.at(where, &fault{problem: e.Problem, remedy: e.Remedy, cause: e})
}
