package proof

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/solve"
)

// Result is what a proof file proves.
type Result struct {
	Bound   model.Time // as solve.Trace.Lower, the largest over its searches
	Nogoods int64
	Steps   int64
}

// FileError says where a proof file is wrong.
type FileError struct {
	Line, Column int   // from 1, columns in bytes
	Err          error // a *StepError if the proof is at fault, and not its form
}

func (e *FileError) Error() string {
	return fmt.Sprintf("proof: line %d, column %d: %v", e.Line, e.Column, e.Err)
}

// Unwrap returns Err.
func (e *FileError) Unwrap() error { return e.Err }

// longestLine is the number of bytes of a line at most: a step of a million facts.
const longestLine = 1 << 25

// linesPerLook is the number of lines between looks at the context.
const linesPerLook = 1024

// Verify reads a proof file about a problem and verifies it. It holds a line at a time
// and the nogoods that are not forgotten. After an error the result is that of an
// empty proof. Errors: *FileError for a file that breaks the grammar, is about another
// problem, claims another bound than it proves, or has a step that its rule does not
// allow; those of New, of the context, and of r. Cost that of the Checker, and O(bytes).
func Verify(ctx context.Context, p *model.Problem, r io.Reader) (Result, error) {
	none := Result{Bound: model.Absent}
	c, err := New(p)
	if err != nil {
		return none, err
	}
	digest, err := Digest(p)
	if err != nil {
		return none, err
	}
	f := reader{r: bufio.NewReaderSize(r, 1<<16), c: c, found: none}
	if err := f.file(ctx, digest); err != nil {
		return none, err
	}
	return f.found, nil
}

// reader walks through a proof file.
type reader struct {
	r      *bufio.Reader
	line   []byte // at hand, without its end
	at     int    // next byte of the line
	number int    // of the line, from 1
	long   []byte // holds lines longer than the buffer of r

	c        *Checker
	searches int64
	open     bool // a nogood is at hand
	begun    int  // its line
	facts    []solve.Fact
	stepped  solve.Step
	found    Result
}

func (f *reader) file(ctx context.Context, digest string) error {
	for _, line := range []string{fileFormat, objectiveKey + " " + f.c.p.Pipeline.Objective.String(), problemKey + " " + digest} {
		if err := f.next(); err != nil {
			return err
		}
		if string(f.line) != line {
			return f.failf("%q expected, %.100q found", line, f.line)
		}
	}
	for {
		if f.number%linesPerLook == 0 && ctx.Err() != nil {
			return fmt.Errorf("proof: %w", ctx.Err())
		}
		if err := f.next(); err != nil {
			return err
		}
		end, err := f.entry()
		if err != nil {
			return err
		}
		if end {
			return f.nothingMore()
		}
	}
}

// next reads a line. The end of the file is an error.
func (f *reader) next() error {
	f.number, f.at = f.number+1, 0
	part, err := f.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		f.long = f.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) && len(f.long) < longestLine {
			f.long = append(f.long, part...)
			part, err = f.r.ReadSlice('\n')
		}
		f.long = append(f.long, part...)
		part = f.long
	}
	f.line = part
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		f.line = nil
		return f.failf("the line is longer than %d bytes", longestLine)
	case errors.Is(err, io.EOF):
		f.at = len(part)
		return f.failf("the file ends before the end of its last line %q", endWord+" ...")
	case err != nil:
		return fmt.Errorf("proof: %w", err)
	}
	f.line = part[:len(part)-1]
	return nil
}

// entry handles a line behind the header, and reports whether it is the last one.
func (f *reader) entry() (end bool, err error) {
	word := string(f.word())
	if rule, ok := rules[word]; ok {
		return false, f.step(rule)
	}
	handle, ok := entries[word]
	if !ok {
		f.at = 0
		return false, f.failf("%.40q is not the begin of a line", word)
	}
	if err := f.conclude(); err != nil {
		return false, err
	}
	return word == endWord, handle(f)
}

// entries are the lines, by first word, that end the nogood at hand.
var entries = map[string]func(*reader) error{
	nogoodWord: (*reader).nogood,
	forgetWord: (*reader).forget,
	searchWord: (*reader).newSearch,
	endWord:    (*reader).end,
}

func (f *reader) newSearch() error {
	n, err := f.int64()
	if err != nil {
		return err
	}
	f.searches++
	if n != f.searches {
		return f.failf("search %d is the next, not %d", f.searches, n)
	}
	f.close()
	return f.lineEnds()
}

// close ends a search.
func (f *reader) close() {
	f.found.Bound = max(f.found.Bound, f.c.Lower())
	f.found.Nogoods += f.c.Verified()
	f.found.Steps += f.c.Steps()
	f.c.restart()
}

func (f *reader) nogood() error {
	if f.searches == 0 {
		return f.failf("no search was begun")
	}
	facts, err := f.readFacts()
	if err != nil {
		return err
	}
	f.open, f.begun = true, f.number
	f.c.begin(facts)
	return f.fault(f.number)
}

func (f *reader) forget() error {
	n, err := f.int64()
	if err != nil {
		return err
	}
	if err := f.lineEnds(); err != nil {
		return err
	}
	f.c.Forget(n)
	return f.fault(f.number)
}

func (f *reader) step(rule solve.ProofRule) error {
	if !f.open {
		return f.failf("a step without a nogood")
	}
	if err := f.readStep(rule); err != nil {
		return err
	}
	f.c.step(&f.stepped)
	return f.fault(f.number)
}

// conclude ends the nogood at hand, if any.
func (f *reader) conclude() error {
	if f.open {
		f.open = false
		f.c.conclude()
	}
	return f.fault(f.begun)
}

// fault returns the fault of the checker, if any, about a line.
func (f *reader) fault(line int) error {
	if err := f.c.Err(); err != nil {
		return &FileError{line, 1, err}
	}
	return nil
}

func (f *reader) end() error {
	f.close()
	f.literal(" ")
	if claimed := string(f.word()); claimed != boundText(f.found.Bound) {
		return f.failf("the file claims the bound %.40q and proves %q", claimed, boundText(f.found.Bound))
	}
	n, err := f.int64()
	if err != nil {
		return err
	}
	if n != f.found.Nogoods {
		return f.failf("the file claims %d nogoods and holds %d", n, f.found.Nogoods)
	}
	return f.lineEnds()
}

// nothingMore tests that the file has ended.
func (f *reader) nothingMore() error {
	_, err := f.r.ReadByte()
	if err == nil {
		f.number, f.at = f.number+1, 0
		return f.failf("something stands behind the end")
	}
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("proof: %w", err)
	}
	return nil
}
