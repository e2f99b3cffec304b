// Command testreport reads the output of "go test -json" on standard input and prints what a
// person wants to see of it: the packages, the whole output of each failed test, and every
// skipped test with its reason, which plain "go test" keeps quiet about.
//
// A test that needs something of the machine begins its skip reason with the name of the thing:
//
//	t.Skip("clp: built without the tag clp")
//
// -require lists such names; a skip for one of them counts as a failure. The exit status is 1 if
// a test failed, a package did not build, a required test was skipped or no test ran.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	require := flag.String("require", "", "comma-separated `names` whose skips are failures")
	verbose := flag.Bool("v", false, "print a line for each passed test too")
	flag.Parse()

	r := newReport(os.Stdout, *verbose, strings.Split(*require, ","))
	if err := r.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	if !r.finish() {
		os.Exit(1)
	}
}
