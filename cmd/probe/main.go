package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/flexpipe/flexpipe/benchmarks/suite"
	"github.com/flexpipe/flexpipe/heuristics"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/lcg"
	"github.com/flexpipe/flexpipe/solve/proof"
)

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)*1e-6
}

func main() {
	filter := flag.String("f", ".", "")
	limit := flag.Duration("t", 5*time.Second, "")
	workers := flag.Int("w", 2, "")
	gaps := flag.Bool("gaps", true, "")
	prof := flag.String("prof", "", "")
	check := flag.Bool("check", false, "")
	cfg := flag.String("cfg", "", "")
	engine := flag.String("e", "lcg", "")
	v := flag.Bool("v", false, "")
	flag.Parse()
	if *prof != "" {
		f, _ := os.Create(*prof)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	if *cfg != "" {
		runConfig(*cfg, *limit, *workers, *engine, *check)
		return
	}
	re := regexp.MustCompile(*filter)
	ins, _ := suite.Instances()
	proved, all := 0, 0
	for i := range ins {
		in := &ins[i]
		if !re.MatchString(in.Name) {
			continue
		}
		p, err := in.Problem()
		if err != nil {
			panic(err)
		}
		all++
		t0 := time.Now()
		r0 := solve.NewResult(p)
		h, err := heuristics.Search(context.Background(), p, heuristics.Options{Seed: 1, Workers: 2, Target: r0.Bound})
		if err != nil {
			panic(err)
		}
		r0.Offer(p, h.Plan, "heuristic")
		if r0.Status == solve.Optimal {
			proved++
			if *gaps {
				continue
			}
		}
		t1 := time.Now()
		c0 := cpu()
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			for ctx.Err() == nil {
				time.Sleep(10 * time.Millisecond)
				if cpu()-c0 > limit.Seconds()*float64(*workers) {
					cancel()
				}
			}
		}()
		o := solve.Options{Seed: 1, Workers: *workers, Incumbent: r0.Plan, Bound: r0.Bound}
		var checkers []*proof.Checker
		if *check {
			o.NewTrace = func() solve.Trace {
				c, err := proof.New(p)
				if err != nil {
					panic(err)
				}
				checkers = append(checkers, c)
				return c
			}
		}
		if *v {
			o.Progress = func(p solve.Progress) {
				fmt.Printf("   %.2f [%d %d] %d\n", time.Since(t1).Seconds(), p.Bound, p.Value, p.Conflicts)
			}
		}
		r, err := lcg.New().Solve(ctx, p, o)
		cancel()
		if err != nil {
			fmt.Println(in.Name, "ERROR", err)
			continue
		}
		if r.Status == solve.Optimal && r0.Status != solve.Optimal {
			proved++
		}
		bad := string(r.Proof)
		for _, c := range checkers {
			if c.Err() != nil {
				bad += " FAULT " + c.Err().Error()
			}
			bad += fmt.Sprint(" ", c.Verified(), "/", c.Steps())
		}
		if r.Bound > in.BestValue || r.Value < in.BestBound {
			bad = "CONTRADICTION"
		}
		fmt.Printf("%-26s h[%d %d] %.2fs lcg[%d %d] %s %.2fs %d conflicts  known[%d %d] %s\n", in.Name, r0.Bound, r0.Value, t1.Sub(t0).Seconds(), r.Bound, r.Value, r.Status, cpu()-c0, r.Stats.Conflicts, in.BestBound, in.BestValue, bad)
	}
	fmt.Println("proved", proved, "of", all)
}
