package runtime

import (
	"context"
	"time"

	"github.com/flexpipe/flexpipe/runtime/lower"
)

type Options struct {
	Stall       time.Duration
	LockThreads bool
}
type Engine struct{}

func NewEngine(program *lower.Program, devices []Device, o Options) (*Engine, error) { return nil, nil }
func (e *Engine) Run(ctx context.Context) (*Record, error)                           { return nil, nil }
