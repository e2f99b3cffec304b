//go:build !clp || !cgo

package clp

import (
	"errors"

	"github.com/flexpipe/flexpipe/solve/lp"
)

// Available says whether this build has CLP.
const Available = false

// New returns a solver. Errors: one for a build without CLP.
func New() (lp.Solver, error) {
	return nil, errors.New("this build has no CLP: it takes the build tag clp, cgo and the CLP library")
}
