// Package dsl runs scripts that describe a schedule: Starlark, which has the syntax of
// Python. docs/dsl.md teaches the language.
//
// A script makes a pipeline, says what its actors prefer and how much they may have in
// flight, or lists the orders outright, and may ask for a search. What comes out is a
// [cssr.Request]: plain data. Nothing is decoded or searched here, and each word of the
// language is a thin layer over a verb of [cssr.Spec].
//
// Scripts are confined: they read configurations through the file system that the
// caller gives and nothing else, know no clock and no randomness, and end within a
// limit of steps. There is no load, no while and no recursion. The same script gives the
// same request. Memory is bounded by the number of steps only loosely: a script that
// doubles a list over and over is not stopped before it is large.
package dsl

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
)

// Options are the world around a script.
type Options struct {
	FS     fs.FS  // serves the configurations that the script names; nil: none
	Config string // the configuration, in FS, that config() returns without a path; "": none

	Set       []Setting    // values for arg()
	Steps     uint64       // bound of the work, in steps of the interpreter; 0: DefaultSteps
	Schedules []string     // names that schedule() knows; nil: any
	Print     func(string) // receives what print() says, without line end; nil: nobody
}

// Setting is a value from the command line for a parameter of the script.
type Setting struct{ Name, Value string }

// DefaultSteps is the default bound of a script's work, some seconds.
const DefaultSteps = 50_000_000

// Script is a script that has run.
type Script struct {
	Request *cssr.Request

	run  *run
	asks *pipeline
}

// Explain returns what err, which came of carrying out the request, means in terms of
// the script: an *Error at the call that is to be mended, or err itself if no call is.
func (s *Script) Explain(err error) error {
	if e := s.run.explain(s.asks, err); e != nil {
		return e
	}
	return err
}

// At returns an error of carrying out the request as one of the call of a word of the
// language, such as schedule; what has its place already keeps it.
func (s *Script) At(word string, err error) error {
	if e := s.run.explain(s.asks, err); e != nil {
		return e
	}
	if !s.asks.has(word) {
		return err
	}
	return s.run.at(s.asks.sites[word], &fault{problem: err.Error(), cause: err})
}

// Files returns the names of the configurations that the script has read, sorted.
func (s *Script) Files() []string { return slices.Sorted(maps.Keys(s.run.files)) }

// Warning writes a warning of the configuration with its place: in the script, if a key
// that the script gives is what it is about.
func (s *Script) Warning(w config.Warning) string {
	if w.Line > 0 {
		return s.asks.source + ":" + w.String()
	}
	at := s.asks.keySite(w.Key)
	return fmt.Sprintf("%s:%d:%d: %s: %s", s.run.name, at.line, at.column, w.Key, w.Text)
}

// Run runs the script of that name, whose directory is where its configurations are
// relative to. The request is one that can be carried out, as far as that shows without
// looking for a plan: see [cssr.Request.Check]. Names of schedules are not looked up.
//
// Every error is an *Error; where the context ended the run, it wraps the cause.
func Run(ctx context.Context, name string, source []byte, o Options) (*Script, error) {
	r := newRun(name, bytes.TrimPrefix(source, []byte("\ufeff")), o)
	if err := r.execute(ctx); err != nil {
		return nil, r.scriptError(err)
	}
	asks, err := r.asked()
	if err != nil {
		return nil, err
	}
	request, err := asks.spec.Request()
	if err == nil {
		err = check(request)
	}
	if err != nil {
		return nil, r.located(asks, err)
	}
	return &Script{Request: request, run: r, asks: asks}, nil
}

// check tests what can be tested of a request without a search.
func check(request *cssr.Request) error {
	if request.Schedule != "" || request.Tune != nil {
		return nil // these choose the shape of the problem themselves
	}
	problem, err := request.Problem()
	if err != nil {
		return err
	}
	return request.Check(problem)
}

// run is the state of a running script.
type run struct {
	Options
	name   string
	source []byte
	files  map[string][]byte                    // configurations that were read, for messages
	calls  map[syntax.Position]*syntax.CallExpr // by the place of the parenthesis
	dots   map[syntax.Position]*syntax.Ident    // by the place of the dot

	pipelines []*pipeline
	submitted *pipeline
	arguments []argument
	halted    string // why the script was stopped; "": it was not
}

func newRun(name string, source []byte, o Options) *run {
	if o.Steps == 0 {
		o.Steps = DefaultSteps
	}
	return &run{Options: o, name: name, source: source, files: map[string][]byte{},
		calls: map[syntax.Position]*syntax.CallExpr{}, dots: map[syntax.Position]*syntax.Ident{}}
}

// dialect is Starlark with loops at the top, and variables that may be set again.
var dialect = &syntax.FileOptions{Set: true, TopLevelControl: true, GlobalReassign: true}

// execute parses and runs the script.
func (r *run) execute(ctx context.Context) error {
	file, err := dialect.Parse(r.name, r.source, 0)
	if err != nil {
		return err
	}
	if err := r.index(file); err != nil {
		return err
	}
	words := r.words()
	program, err := starlark.FileProgram(file, words.Has)
	if err != nil {
		return err
	}
	thread := &starlark.Thread{Name: r.name, Print: r.print, OnMaxSteps: r.exhausted}
	thread.SetMaxExecutionSteps(r.Steps)
	stop := context.AfterFunc(ctx, func() { thread.Cancel("the context ended") })
	defer stop()
	_, err = program.Init(thread, words)
	if err != nil && ctx.Err() != nil {
		return &fault{problem: "the script was stopped: " + context.Cause(ctx).Error(), cause: context.Cause(ctx)}
	}
	return err
}

// print hands what a script prints to the caller.
func (r *run) print(_ *starlark.Thread, text string) {
	if r.Print != nil {
		r.Print(text)
	}
}

// exhausted ends a script that has used up its steps.
func (r *run) exhausted(thread *starlark.Thread) {
	r.halted = fmt.Sprintf("the script has taken %d steps and is stopped", r.Steps)
	thread.Cancel(r.halted)
}

// mostRange is the length of the longest range: what is built of one stays within memory.
const mostRange = 1 << 22

// boundedRange is range(), for sane lengths.
func boundedRange(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	v, err := starlark.Call(thread, starlark.Universe["range"], args, kwargs)
	if err != nil {
		return nil, err
	}
	if n := starlark.Len(v); n > mostRange || n < 0 {
		return nil, &fault{problem: "the range has more than 4194304 numbers", remedy: "use a shorter one"}
	}
	return v, nil
}

// words returns the words of the language beside those of Starlark.
func (r *run) words() starlark.StringDict {
	words := starlark.StringDict{}
	for name, f := range map[string]builtin{
		"config": r.config, "pipeline": r.fromKeys, "arg": r.arg,
		"build": r.build, "solve": r.solve, "tune": r.tune, "op": r.op, "range": boundedRange,
	} {
		words[name] = starlark.NewBuiltin(name, f)
	}
	for _, letter := range []string{"F", "I", "W", "B"} {
		words[letter] = starlark.NewBuiltin(letter, letterOp)
	}
	return words
}

// builtin is a function of the language in the terms of Starlark.
type builtin = func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

// asked returns the pipeline that the script asks for.
func (r *run) asked() (*pipeline, error) {
	if err := r.unknownSettings(); err != nil {
		return nil, err
	}
	switch {
	case r.submitted != nil:
		return r.submitted, nil
	case len(r.pipelines) == 1:
		return r.pipelines[0], nil
	case len(r.pipelines) == 0:
		return nil, r.bare("the script makes no pipeline", "begin with p = pipeline(devices = 4, ...) or p = config()")
	}
	last := r.pipelines[len(r.pipelines)-1]
	return nil, r.at(last.sites[""], &fault{problem: fmt.Sprintf("the script makes %d pipelines and submits none", len(r.pipelines)), remedy: "end it with build(p) for the one that is meant"})
}

// submit notes that a call asks for a pipeline.
func (r *run) submit(thread *starlark.Thread, p *pipeline, what string) error {
	if r.submitted != nil {
		return &fault{problem: "the script has submitted a pipeline already, in line " + fmt.Sprint(r.submitted.sites["submit"].line), remedy: "submit one only"}
	}
	r.submitted = p
	p.sites["submit"], p.sites[what] = r.here(thread), r.here(thread)
	return nil
}

// index notes where each call and attribute stands, and refuses load.
func (r *run) index(file *syntax.File) (err error) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			r.calls[plain(n.Lparen)] = n
		case *syntax.DotExpr:
			r.dots[plain(n.Dot)] = n.Name
		case *syntax.LoadStmt:
			if err == nil {
				err = &fault{site: site{line: int(n.Load.Line), column: int(n.Load.Col)}, problem: "load is not available: a script is a single file",
					remedy: "write its functions here; config(FILE) reads a configuration"}
			}
		}
		return true
	})
	return err
}

// plain returns a position without its file, so that equal places are equal.
func plain(p syntax.Position) syntax.Position { return syntax.MakePosition(nil, p.Line, p.Col) }

// unknownSettings refuses a setting that the script has no parameter for.
func (r *run) unknownSettings() error {
	var names []string
	for _, a := range r.arguments {
		names = append(names, a.name)
	}
	for _, s := range r.Set {
		if slices.Contains(names, s.Name) {
			continue
		}
		remedy := "it has none"
		if len(names) > 0 {
			remedy = suggest(s.Name, names) + "it has " + list(names, "and")
		}
		return r.bare(fmt.Sprintf("the script has no parameter %q", s.Name), remedy)
	}
	return nil
}
