// Command headline compares the plans of FlexPipe with those of other planners on
// networks that do not divide evenly: GPTs with a vocabulary of a million tokens,
// and networks of two branches.
//
//	headline -micro-batches 8,16,32,64 -main 32 -limit 60s
//
// All times are predicted from counted operations, none is measured. README.md
// beside it says what each row assumes.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	examples string
	filter   *regexp.Regexp
	counts   []int // of micro-batches, ascending
	main     int   // the count of the first table, one of counts
	limit    time.Duration
	workers  int
	seed     uint64
	json     bool
	table    string

	evaluations, finalists int // of a tuning, see [tune.Options]
	tries                  int // of a search for a schedule without bubbles
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(ctx, o, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "headline:", err)
		os.Exit(1)
	}
}

func parse(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("headline", flag.ExitOnError)
	flags.StringVar(&o.examples, "examples", "examples", "`FOLDER` with the configurations")
	filter := flags.String("filter", "", "only instances whose name matches this `REGEXP`")
	counts := flags.String("micro-batches", "8,16,32,64", "`COUNTS` of the second table, separated by commas")
	flags.IntVar(&o.main, "main", 32, "`COUNT` of micro-batches of the first table")
	flags.DurationVar(&o.limit, "limit", time.Minute, "time limit for each tuning, and for each search of another planner")
	flags.IntVar(&o.workers, "workers", 2, "threads to use")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the searches")
	flags.BoolVar(&o.json, "json", false, "print JSON instead of tables")
	flags.IntVar(&o.tries, "tries", 256, "priority rules that a search for a schedule without bubbles decodes")
	flags.IntVar(&o.evaluations, "evaluations", 0, "points that a tuning decodes; 0: as flexpipe tune does")
	flags.IntVar(&o.finalists, "finalists", 3, "problems that a tuning hands to the solvers; -1: none")
	flags.StringVar(&o.table, "table", "", "print the tables of this `FILE`, written with -json, and do nothing else")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	for _, word := range strings.Split(*counts, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-micro-batches: %q is no count, write whole numbers from 1 up", word)
		}
		o.counts = append(o.counts, n)
	}
	if o.main < 1 {
		return nil, fmt.Errorf("-main %d: write a whole number from 1 up", o.main)
	}
	o.counts = append(o.counts, o.main)
	slices.Sort(o.counts)
	o.counts = slices.Compact(o.counts)
	var err error
	if o.filter, err = regexp.Compile(*filter); err != nil {
		return nil, fmt.Errorf("-filter: %w", err)
	}
	return o, nil
}

// run compares on all instances and prints the result; progress goes to the log.
func run(ctx context.Context, o *options, w, log io.Writer) error {
	if o.table != "" {
		reports, err := read(o.table)
		if err != nil {
			return err
		}
		printReports(w, reports)
		return nil
	}
	var reports []*report
	for i := range instances {
		if !o.filter.MatchString(instances[i].file) {
			continue
		}
		r, err := compare(ctx, &instances[i], o, log)
		if err != nil {
			return fmt.Errorf("%s: %w", instances[i].file, err)
		}
		reports = append(reports, r)
	}
	if len(reports) == 0 {
		return fmt.Errorf("-filter %s matches no instance", o.filter)
	}
	if o.json {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(reports)
	}
	printReports(w, reports)
	return nil
}

// read reads what -json wrote.
func read(file string) ([]*report, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var reports []*report
	if err := json.Unmarshal(data, &reports); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return reports, nil
}
