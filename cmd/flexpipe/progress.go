package main

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/flexpipe/flexpipe/model"
	pipert "github.com/flexpipe/flexpipe/runtime"
	"github.com/flexpipe/flexpipe/solve/portfolio"
)

// progressDelay is how long a search or an execution runs before it shows progress.
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
	if !p.watched(quiet) {
		return func() {}, false
	}
	container, timer := p.container()
	bar := container.New(0, mpb.SpinnerStyle().PositionLeft(), mpb.BarWidth(1),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return text() })))
	return func() {
		timer.Stop()
		bar.Abort(true)
		container.Wait()
	}, true
}

// container returns where lines on standard error are drawn, from progressDelay on unless the timer
// is stopped before.
func (p *program) container() (*mpb.Progress, *time.Timer) {
	late := make(chan any)
	timer := time.AfterFunc(progressDelay, func() { close(late) })
	return mpb.New(mpb.WithOutput(p.err), mpb.WithRenderDelay(late)), timer
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

// bar shows on standard error how many of so many iterations have ended, with what the last
// one was like. It does nothing if nobody would see it. done ends it; it may be called again.
func (p *program) bar(quiet bool, total int) (show func(pipert.Progress), done func()) {
	if !p.watched(quiet) {
		return nil, func() {}
	}
	var last atomic.Pointer[pipert.Progress]
	text := func(decor.Statistics) string {
		latest := last.Load()
		if latest == nil {
			return "preparing"
		}
		line := latest.Name + " " + seconds(latest.Makespan)
		if !math.IsNaN(latest.Loss) {
			line += fmt.Sprintf(", loss %.3f", latest.Loss)
		}
		return line
	}
	container, timer := p.container()
	b := container.AddBar(int64(total), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersNoUnit("%d of %d iterations ")), mpb.AppendDecorators(decor.Any(text)))
	show = func(latest pipert.Progress) {
		last.Store(&latest)
		b.Increment()
	}
	return show, sync.OnceFunc(func() {
		timer.Stop()
		b.Abort(true)
		container.Wait()
	})
}

// watched reports whether somebody sees progress on standard error.
func (p *program) watched(quiet bool) bool {
	return !quiet && p.env("TERM") != "dumb" && isTerminal(p.err)
}
