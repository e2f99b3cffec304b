// Command throughput executes plans on this machine, and compares what they take with what was
// predicted and with each other.
//
//	throughput -study fidelity
//	throughput -study effect -files bin/effect
//
// README.md beside it says what is measured, and what that says and does not say.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

//go:embed networks
var networks embed.FS

// load reads a configuration of this package.
func load(name string) (*config.Config, error) {
	return config.Load(networks, "networks/"+name+".yaml")
}

// options are the flags.
type options struct {
	study string
	files string // folder
	search
	repeats
	trained int // iterations of the study of the loss
}

// studies are what the command can do.
var studies = []struct {
	name string
	run  func(context.Context, *options, io.Writer) error
}{
	{"fidelity", studyFidelity},
	{"effect", studyEffect},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(ctx, o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "throughput:", err)
		os.Exit(1)
	}
}

func parse(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("throughput", flag.ExitOnError)
	flags.StringVar(&o.study, "study", "fidelity", "`STUDY` to make: fidelity or effect")
	flags.StringVar(&o.files, "files", "", "write configurations, profiles and plans to this `FOLDER`")
	flags.IntVar(&o.iterations, "iterations", 10, "measure `N` iterations of each plan")
	flags.IntVar(&o.warmup, "warm-up", 2, "before `N` that are not measured")
	flags.IntVar(&o.trained, "trained", 100, "train `N` iterations to see the loss fall")
	flags.DurationVar(&o.limit, "limit", 5*time.Second, "time limit of a search for a plan")
	flags.IntVar(&o.workers, "workers", 2, "threads of a search")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of searches, parameters and data")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.iterations < 1 || o.trained < 2:
		return nil, fmt.Errorf("-iterations %d -trained %d: at least 1 and 2 are needed", o.iterations, o.trained)
	case o.warmup < 1:
		return nil, fmt.Errorf("-warm-up %d: at least 1 is needed, the first iteration touches all memory", o.warmup)
	}
	return o, nil
}

// run makes the study and says on what machine.
func run(ctx context.Context, o *options, w io.Writer) error {
	names := []string{}
	for _, s := range studies {
		names = append(names, s.name)
	}
	at := slices.Index(names, o.study)
	if at < 0 {
		return fmt.Errorf("-study %q: write %s", o.study, strings.Join(names, " or "))
	}
	fmt.Fprintf(w, "%s/%s, %s, %s\n\n", runtime.GOOS, runtime.GOARCH, model.Plural(runtime.NumCPU(), "core"), runtime.Version())
	return studies[at].run(ctx, o, w)
}
