package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
)

// script writes a script that makes the best plan again: from its point, or where a
// search made it by a search of its shape.
func (t *tuned) script(w io.Writer) error {
	best, o := &t.result.Rows[0], t.options
	name := o.config
	if o.script != standard {
		// The name of a configuration is relative to the script.
		from, err := filepath.Abs(filepath.Dir(o.script))
		if err != nil {
			return err
		}
		to, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		if name, err = filepath.Rel(from, to); err != nil {
			name = to
		}
	}
	verb := "solve"
	if best.Result.Rule == best.Point.String() {
		verb = "build"
	}
	p := best.Problem
	_, err := fmt.Fprintf(w, "\"\"\"The best plan that flexpipe tune found: %s %s, bound of its shape %s.\"\"\"\n\np = config(%s)\np.point(%s)\n%s(p)\n",
		p.Pipeline.Objective, p.FormatTime(best.Result.Value), p.FormatTime(best.Result.Bound),
		strconv.Quote(filepath.ToSlash(name)), strconv.Quote(best.Point.String()), verb)
	return err
}
