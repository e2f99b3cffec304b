package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/lcg"
	"github.com/flexpipe/flexpipe/solve/periodic"
	"github.com/flexpipe/flexpipe/solve/proof"
)

func runConfig(file string, limit time.Duration, workers int, engine string, check bool) {
	cfg, err := config.Load(os.DirFS("/"), file[1:])
	if err != nil {
		panic(err)
	}
	p, err := cssr.Build(cfg, cssr.Choices{})
	if err != nil {
		panic(err)
	}
	t := time.Now()
	r0 := solve.NewResult(p)
	fmt.Println("bound", r0.Bound, time.Since(t), "ops", p.NumOps(), "undecided", lcg.Undecided(p))
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	t = time.Now()
	var e solve.Solver = lcg.New()
	if engine == "periodic" {
		e = periodic.New()
	}
	o := solve.Options{Seed: 1, Workers: workers, Bound: r0.Bound, Progress: func(pr solve.Progress) {
		fmt.Println("  ", time.Since(t), pr)
	}}
	if check {
		o.NewTrace = func() solve.Trace { c, _ := proof.New(p); fmt.Println("  checker", time.Since(t)); return c }
	}
	r, err := e.Solve(ctx, p, o)
	fmt.Println(r.Value, r.Bound, r.Status, time.Since(t), err, r.Reason)
}
