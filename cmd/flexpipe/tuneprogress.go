package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/flexpipe/flexpipe/solve/tune"
)

// tuneProgress returns a function that shows how a tuning is getting on, see spin.
func (p *program) tuneProgress(quiet bool, unit string) (show func(tune.Progress), done func()) {
	line := &tuneLine{began: time.Now(), unit: unit}
	done, seen := p.spin(quiet, line.text)
	if !seen {
		return nil, done
	}
	return line.update, done
}

// tuneLine holds what the line on the terminal says.
type tuneLine struct {
	began time.Time
	unit  string

	mu     sync.Mutex
	latest tune.Progress
}

func (l *tuneLine) update(latest tune.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest = latest
}

func (l *tuneLine) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	parts := []string{time.Since(l.began).Round(time.Second).String()}
	if l.latest.Stage != "" {
		parts = append(parts, fmt.Sprintf("%s, %d of %d", l.latest.Stage, l.latest.Done, l.latest.Limit))
	}
	if l.latest.Best > 0 {
		parts = append(parts, fmt.Sprintf("best %s %s", decimal(l.latest.Best), l.unit))
	}
	return strings.Join(parts, ", ")
}
