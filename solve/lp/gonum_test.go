package lp_test

import (
	"fmt"
	"testing"

	"github.com/flexpipe/flexpipe/solve/lp"
	"github.com/flexpipe/flexpipe/solve/lp/lptest"
)

func TestGonum(t *testing.T) { lptest.Run(t, lp.Gonum()) }

func BenchmarkGonum(b *testing.B) {
	for _, n := range []int{4, 8, 16, 24} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { lptest.Bench(b, lp.Gonum(), n) })
	}
}
