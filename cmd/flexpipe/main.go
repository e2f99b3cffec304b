// Command flexpipe plans pipeline-parallel training: it reads a configuration,
// finds an order of the operations on every device, and says how far the plan is
// from a proven lower bound. Run it without arguments for its commands.
package main

import "os"

func main() {
	p := &program{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv, exit: os.Exit}
	os.Exit(p.run(os.Args[1:]))
}
