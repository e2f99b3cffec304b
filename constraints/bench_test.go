package constraints_test

import (
	"testing"

	"github.com/flexpipe/flexpipe/constraints"
	"github.com/flexpipe/flexpipe/model/modelgen"
)

// Judging whole plans is measured by BenchmarkScale in package benchmarks.
func BenchmarkCheckCompiled(b *testing.B) {
	p := modelgen.Unit(4096, 8)
	for b.Loop() {
		constraints.CheckCompiled(p)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(p.Rows)), "ns/row")
}
