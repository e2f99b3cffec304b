package solve

import (
	"context"
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// Solver is an engine that searches for the best plan and proves it.
type Solver interface {
	// Name returns one lower-case word, as in results and messages.
	Name() string

	// Refuses returns nil if the engine honours every feature of the problem, else
	// a *FeatureError that names the first one it does not.
	Refuses(p *model.Problem) error

	// Solve searches until value and bound meet or the context ends, and returns
	// what it has by then: within 0.3 s of the context's end on problems that it
	// does not refuse. The time limit is the context's deadline; an engine without
	// one may run for ever. Every plan it returns has passed the judge; the bound
	// is valid whatever ended the search. Statuses are results; an error is a
	// *FeatureError, or a fault of the program.
	//
	// With equal options and one worker the result is the same whenever the search
	// ends by proof.
	Solve(ctx context.Context, p *model.Problem, o Options) (*Result, error)
}

// Options steer an engine. The zero value is valid.
type Options struct {
	Seed      uint64
	Workers   int            // goroutines; below 1 counts as 1
	Incumbent *model.Plan    // a legal plan to improve on; nil if none is known
	Bound     model.Time     // a proven lower bound of the objective; 0 if none is known
	Basis     Proof          // what Bound rests on; NoProof stands for the judge's side
	Progress  func(Progress) // may be nil; called from one goroutine at a time

	// NewTrace, if not nil, is called once for each independent search of an engine
	// that can tell its proof, before it begins; the engine then reports every step
	// to that Trace, from one goroutine. A bound counts as checked if Trace.Lower is
	// as high. Engines that cannot tell their proof do not call it.
	NewTrace func() Trace
}

// Progress tells how far a search is.
type Progress struct {
	Engine    string
	Value     model.Time // of the best plan so far, in ticks; model.Absent if there is none
	Bound     model.Time // proven so far, in ticks
	Conflicts int64
}

// FeatureError says that an engine does not honour a feature of a problem.
type FeatureError struct {
	Engine  string
	Feature string // as in "gangs", "a choice between split and fused"
}

func (e *FeatureError) Error() string {
	return fmt.Sprintf("engine %s cannot solve problems with %s", e.Engine, e.Feature)
}

// LateStarts is the reason of a result whose bound an engine cannot raise because a
// schedule meets it that no plan says: some device would have to start later than its
// order demands, to be busy for a shorter time.
const LateStarts = "a smaller span is possible only if a device starts later than its order demands, which plans do not say"

// Ended is the reason of a result whose search the context ended.
func Ended(ctx context.Context) string {
	if ctx.Err() == context.DeadlineExceeded {
		return "the time limit ended the search"
	}
	return "interrupted"
}
