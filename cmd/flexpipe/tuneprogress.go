package main

import (
	"github.com/flexpipe/flexpipe/solve/tune"
)

func (p *program) tuneProgress(quiet bool) (show func(tune.Progress), done func()) {
	return nil, func() {}
}
