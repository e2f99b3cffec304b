// Command solvebench measures engines on the suite: what they prove, what they find,
// and how long that takes.
//
//	solvebench -limit 60s -engines portfolio,cpsat -o results.json
//	solvebench -table results.json
//
// The results are JSON, one cell a line; a run adds the cells that the file lacks.
// README.md beside it says how to read the table.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"

	"github.com/flexpipe/flexpipe/benchmarks/suite"
)

// options are the flags.
type options struct {
	limit   time.Duration
	workers int
	seed    uint64
	engines []string
	filter  *regexp.Regexp
	output  string
	fresh   bool
	python  string // the interpreter that has the peers' packages
	peers   string // the folder with the peers' scripts
	table   string
	dump    string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "solvebench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("solvebench", flag.ExitOnError)
	names := flags.String("engines", "portfolio", "`NAMES` of engines, separated by commas: "+strings.Join(engineNames(), ", "))
	filter := flags.String("filter", "", "only instances whose name matches this `REGEXP`")
	flags.DurationVar(&o.limit, "limit", time.Minute, "time limit for each cell")
	flags.IntVar(&o.workers, "workers", 2, "threads that each engine may use")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of FlexPipe's engines")
	flags.StringVar(&o.output, "o", "results.json", "`FILE` to which cells are added")
	flags.BoolVar(&o.fresh, "fresh", false, "measure cells again that the file has; the later one counts")
	flags.StringVar(&o.python, "python", "bin/peers/bin/python", "Python `INTERPRETER` with the packages of the peers")
	flags.StringVar(&o.peers, "peers", "benchmarks/peers", "`FOLDER` with the scripts of the peers")
	flags.StringVar(&o.table, "table", "", "print the table of this results `FILE` and do nothing else")
	flags.StringVar(&o.dump, "dump", "", "write the instances in the peers' format to this `FOLDER` and do nothing else")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	o.engines = strings.Split(*names, ",")
	for _, name := range o.engines {
		if engines[name] == nil {
			return nil, fmt.Errorf("-engines: there is no engine %q, there are %s", name, strings.Join(engineNames(), ", "))
		}
	}
	var err error
	if o.filter, err = regexp.Compile(*filter); err != nil {
		return nil, fmt.Errorf("-filter: %w", err)
	}
	return o, nil
}

func run(ctx context.Context, o *options) error {
	instances, err := suite.Instances()
	if err != nil {
		return err
	}
	if o.table != "" {
		return printTable(os.Stdout, o.table, instances)
	}
	var chosen []suite.Instance
	for i := range instances {
		if o.filter.MatchString(instances[i].Name) {
			chosen = append(chosen, instances[i])
		}
	}
	if o.dump != "" {
		return dumpAll(o.dump, chosen)
	}
	return measureAll(ctx, o, chosen)
}
