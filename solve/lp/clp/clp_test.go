package clp_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/solve/lp"
	"github.com/flexpipe/flexpipe/solve/lp/clp"
	"github.com/flexpipe/flexpipe/solve/lp/lptest"
)

func TestCLP(t *testing.T) {
	s, err := clp.New()
	if clp.Available != (err == nil) {
		t.Fatalf("available: %t, but New says %v", clp.Available, err)
	}
	if err != nil {
		t.Skip(err)
	}
	lptest.Run(t, s)
}

func BenchmarkCLP(b *testing.B) {
	s, err := clp.New()
	if err != nil {
		b.Skip(err)
	}
	for _, n := range []int{4, 8, 16, 24, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { lptest.Bench(b, s, n) })
	}
}

// TestStop ends a solve that would take half a second, and goes on with the model.
func TestStop(t *testing.T) {
	s, err := clp.New()
	if err != nil {
		t.Skip(err)
	}
	p := lptest.Assignment(200)
	m, err := s.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	if got, err := m.Solve(ctx, nil, nil); err != nil || got.Status != lp.Limit {
		t.Fatalf("stopped: %v, %v", got, err)
	}
	if got, err := m.Solve(context.Background(), nil, nil); err != nil || got.Status != lp.Optimal {
		t.Fatalf("after the stop: %v, %v", got, err)
	}
}
