package lcg_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/solve/lcg"
	"github.com/flexpipe/flexpipe/solve/solvetest"
)

func TestConformance(t *testing.T) {
	solvetest.Run(t, lcg.New(), solvetest.Suite{Proves: true})
}
