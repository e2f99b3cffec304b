package tune

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
)

func TestZZShapes(t *testing.T) {
	data, _ := os.ReadFile("../../examples/million-vocabulary-gpt-4.yaml")
	cfg, err := config.Decode(data, "x")
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGrid(cfg, cssr.Space{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	g.eachShape(func(at coordinates) {
		if n > 1500 {
			return
		}
		n++
		b := time.Now()
		s := g.buildShape(context.Background(), at)
		if d := time.Since(b); d > 200*time.Millisecond {
			fmt.Println(at, s.choices.Placement, s.choices.SplitStages, d, s.err)
		}
	})
}

func TestZZTune(t *testing.T) {
	data, _ := os.ReadFile("../../examples/million-vocabulary-gpt-4.yaml")
	cfg, err := config.Decode(data, "x")
	if err != nil {
		t.Fatal(err)
	}
	ctx, c := context.WithTimeout(context.Background(), 30*time.Second)
	defer c()
	b := time.Now()
	last := ""
	r, err := Tune(ctx, cfg, cssr.Space{}, Options{Workers: 2, Solving: 3 * time.Second, Progress: func(p Progress) {
		if p.Stage != last {
			fmt.Println(time.Since(b), p)
			last = p.Stage
		}
	}})
	fmt.Println(time.Since(b), r, err)
}
