package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// progressDelay is how long a search runs before it shows progress.
const progressDelay = time.Second

// progress returns a function that shows how a search is getting on, see spin.
func (p *program) progress(problem *model.Problem, quiet bool) (show func(portfolio.Progress), done func()) {
	line := &progressLine{problem: problem, began: time.Now()}
	done, seen := p.spin(quiet, line.text)
	if !seen {
		return nil, done
	}
	return line.update, done
}

// spin shows a text in a line on standard error that vanishes when done is called. It
// does nothing if nobody would see it.
func (p *program) spin(quiet bool, text func() string) (done func(), seen bool) {
	if quiet || p.env("TERM") == "dumb" || !isTerminal(p.err) {
		return func() {}, false
	}
	late := make(chan any)
	timer := time.AfterFunc(progressDelay, func() { close(late) })
	container := mpb.New(mpb.WithOutput(p.err), mpb.WithRenderDelay(late))
	bar := container.New(0, mpb.SpinnerStyle().PositionLeft(), mpb.BarWidth(1),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return text() })))
	return func() {
		timer.Stop()
		bar.Abort(true)
		container.Wait()
	}, true
}

// progressLine holds what the line on the terminal says.
type progressLine struct {
	problem *model.Problem
	began   time.Time

	mu     sync.Mutex
	known  bool
	latest portfolio.Progress
}

func (l *progressLine) update(latest portfolio.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest, l.known = latest, true
}

func (l *progressLine) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	parts := []string{time.Since(l.began).Round(time.Second).String()}
	if !l.known {
		return strings.Join(append(parts, "computing the bound and a first plan"), ", ")
	}
	return strings.Join(append(parts, l.figures(l.latest)...), ", ")
}

// figures says how far a search is: what is known, and what it does.
func (l *progressLine) figures(p portfolio.Progress) (parts []string) {
	bound := "bound " + l.problem.FormatTime(p.Bound)
	if p.Value != model.Absent {
		parts = append(parts, "best "+l.problem.FormatTime(p.Value))
		bound += ", " + gap(p.Value, p.Bound)
	}
	parts = append(parts, bound)
	if p.Engine == "heuristic" {
		return append(parts, fmt.Sprintf("%d of %d rules tried", p.Tries, p.Limit), "found by "+p.Rule)
	}
	return append(parts, "engine "+p.Engine, model.Plural(int(p.Conflicts), "conflict"))
}
