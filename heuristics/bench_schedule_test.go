package heuristics_test

import (
	"fmt"
	"testing"

	"github.com/flexpipe/flexpipe/heuristics"
)

// BenchmarkBuild builds every schedule on clusters of several sizes.
func BenchmarkBuild(b *testing.B) {
	for _, s := range heuristics.Schedules() {
		for _, devices := range []int{8, 64, 256} {
			p := setting{devices, 3 * devices, 9458, 9748, 7288, 879}.problem(s, chunksOf(s)[len(chunksOf(s))/2])
			b.Run(fmt.Sprintf("%s/devices=%d", s.Name, devices), func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Build(p); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(p.NumOps()), "ns/operation")
			})
		}
	}
}
