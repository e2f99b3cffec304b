package proof

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/solve"
)

// written returns the file of a simple proof, told by several searches.
func written(t testing.TB, p *model.Problem, searches int) string {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, p)
	for range searches {
		w.NewSearch()
		prove(newChecker(t, p).tables, w)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRoundTrip: a file proves what was told.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(200) {
		p := compile(t, randomPipeline(t, seed))
		c := newChecker(t, p)
		prove(c.tables, c)
		for searches := range 3 {
			file := written(t, p, searches)
			got, err := Verify(context.Background(), p, iotest.HalfReader(strings.NewReader(file)))
			want := Result{c.Lower(), int64(searches) * c.Verified(), int64(searches) * c.Steps()}
			if searches == 0 {
				want.Bound = model.Absent
			}
			if err != nil || got != want {
				t.Fatalf("seed %d: %+v, want %+v, error %v", seed, got, want, err)
			}
			if again := written(t, p, searches); again != file {
				t.Fatalf("seed %d: two files of one proof differ", seed)
			}
		}
	}
}

// TestFile has a whole file, with each rule.
func TestFile(t *testing.T) {
	p := modelgen.Unit(2, 2)
	digest, err := Digest(p)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`flexpipe/proof 1
objective makespan
problem %s
search 1
nogood 7<=0
edge 1 7 : 1>=0 7<=0
nogood
learned 0
edge 1 2
monotone 1 2 : 3>=4
order 5 : 3>=4 3<=5
window 1 2 -3
memory 0 1
cycle 0 1 2 : 3<=-1
span 1
forget 0
search 2
nogood 0<=3
rule 9
end excluded 3
`, digest)
	var b bytes.Buffer
	w := NewWriter(&b, p)
	w.Learn([]solve.Fact{most(7, 0)}, []solve.Step{edgeStep(1, 7, least(1, 0), most(7, 0))})
	w.Learn(nil, []solve.Step{
		{Rule: solve.LearnedRule, Facts: []solve.Fact{most(1, 1)}},
		edgeStep(1, 2),
		{Rule: solve.MonotoneRule, From: 1, To: 2, Facts: []solve.Fact{least(3, 4)}},
		{Rule: solve.OrderRule, From: 5, Facts: []solve.Fact{least(3, 4), most(3, 5)}},
		{Rule: solve.WindowRule, Device: 1, Begin: 2, End: -3},
		{Rule: solve.MemoryRule, Op: 1},
		{Rule: solve.CycleRule, Ops: []model.OpID{0, 1, 2}, Facts: []solve.Fact{most(3, -1)}},
		{Rule: solve.SpanRule, Device: 1},
	})
	w.Forget(0)
	w.NewSearch()
	w.Learn([]solve.Fact{most(0, 3)}, []solve.Step{{Rule: 9}})
	if w.Lower() != model.Absent {
		t.Errorf("a writer verified %d", w.Lower())
	}
	if err := w.Close(); err != nil || b.String() != want {
		t.Errorf("wrote %s, error %v, want %s", b.String(), err, want)
	}
}

// TestBrokenFiles: each change of a good file is an error at its place.
func TestBrokenFiles(t *testing.T) {
	p := modelgen.Unit(2, 2)
	good := written(t, p, 1)
	if !strings.HasSuffix(good, "end 7 19\n") {
		t.Fatalf("the file has changed: %s", good)
	}
	lines := strings.Count(good, "\n")
	other, _ := Digest(modelgen.Unit(2, 3))
	own, _ := Digest(p)
	for _, test := range []struct{ old, now, want string }{
		{"proof 1", "proof 2", `line 1, column 1: "flexpipe/proof 1" expected, "flexpipe/proof 2" found`},
		{"makespan", "span", `line 2, column 1: "objective makespan" expected`},
		{own, other, "line 3, column 1: "},
		{"search 1\n", "", "line 4, column 7: no search was begun"},
		{"search 1", "search 2", "line 4, column 9: search 1 is the next, not 2"},
		{"search 1\n", "search 1 \n", "line 4, column 9: the end of the line expected"},
		{"search 1\n", "search 1\r\n", "line 4, column 9: the end of the line expected"},
		{"search 1\n", "search 1\nedge 1 2\n", "line 5, column 5: a step without a nogood"},
		{"search 1\n", "search 1\n\n", `line 5, column 1: "" is not the begin`},
		{"search 1\n", "search 1\nforget 0\n", "line 5, column 1: nogood 0: forgotten without being known"},
		{"search 1\n", "search 1\nforget 00\n", "line 5, column 8: a number without leading zeros"},
		{"search 1\n", "search 1\nforget -0\n", "line 5, column 8: a number without leading zeros"},
		{"search 1\n", "search 1\nforget 9223372036854775808\n", "line 5, column 8: the number is out of range"},
		{"search 1\n", "search 1\nforget\n", "line 5, column 7: a space and a number"},
		{"search 1\n", "search 1\nnogood 5\n", `line 5, column 9: ">=" or "<=" expected`},
		{"search 1\n", "search 1\nnogood 5>3\n", `line 5, column 9: ">=" or "<=" expected`},
		{"search 1\n", "search 1\nnogood  5>=3\n", "line 5, column 8: a number"},
		{"search 1\n", "search 1\nnogood 5>=+3\n", "line 5, column 11: a number"},
		{"search 1\n", "search 1\nnogood 99999999999>=3\n", "line 5, column 8: 99999999999 is out of range"},
		{"search 1\n", "search 1\nnogood 99999999>=3\n", "line 5, column 1: nogood 0: variable 99999999 does not exist"},
		{"search 1\n", "search 1\nnogood\n", "line 5, column 1: nogood 0: its 0 steps exclude nothing"},
		{"search 1\n", "search 1\nnogood\nlearned 0\n", "line 6, column 1: nogood 0, step 0 (learned): nogood 0 is not known"},
		{"search 1\n", "search 1\nnogood\nlearned 0 : 1>=0\n", "line 6, column 10: the end of the line"},
		{"search 1\n", "search 1\nnogood\nedge 1 2 :\n", `line 6, column 11: " :" and facts`},
		{"search 1\n", "search 1\nnogood\nedge 1 2 1>=0\n", `line 6, column 9: " :" and facts`},
		{"search 1\n", "search 1\nnogood\ncycle 1 x\n", "line 6, column 9: a number"},
		{"search 1\n", "search 1\nnogood\nwindow 1 2\n", "line 6, column 11: a space"},
		{"search 1\n", "search 1\nnogood\nwindow 1\n", "line 6, column 9: a space"},
		{"search 1\n", "search 1\nnogood\nwindow\n", "line 6, column 7: a space"},
		{"search 1\n", "search 1\nnogood\nrule 9\n", `line 6, column 1: "rule" is not the begin`},
		{"end 7 19\n", "", fmt.Sprintf("line %d, column 1: the file ends before", lines)},
		{"end 7 19\n", "end 7 19", fmt.Sprintf("line %d, column 9: the file ends before", lines)},
		{"end 7 19\n", "end 8 19\n", fmt.Sprintf(`line %d, column 6: the file claims the bound "8" and proves "7"`, lines)},
		{"end 7 19\n", "end 7 20\n", "the file claims 20 nogoods and holds 19"},
		{"end 7 19\n", "end\n", `claims the bound ""`},
		{"end 7 19\n", "end excluded 19\n", `claims the bound "excluded"`},
		{"end 7 19\n", "end 7 19 \n", "the end of the line expected"},
		{"end 7 19\n", "end 7 19\n\n", fmt.Sprintf("line %d, column 1: something stands behind the end", lines+1)},
		{"end 7 19\n", "end 7 19\nend 7 19\n", "something stands behind the end"},
	} {
		file := strings.Replace(good, test.old, test.now, 1)
		got, err := Verify(context.Background(), p, strings.NewReader(file))
		var at *FileError
		if !errors.As(err, &at) || !strings.Contains(err.Error(), test.want) || got.Bound != model.Absent {
			t.Errorf("%q for %q: %v, want %q", test.now, test.old, err, test.want)
		}
	}
}

// TestSearchesAreApart: a search cannot use what another one proved.
func TestSearchesAreApart(t *testing.T) {
	p := modelgen.Unit(1, 1)
	tell := func(again bool) string {
		var b bytes.Buffer
		w := NewWriter(&b, p)
		w.Learn([]solve.Fact{most(2, 0)}, []solve.Step{edgeStep(1, 2, most(2, 0))})
		if again {
			w.NewSearch()
		}
		w.Learn([]solve.Fact{most(0, 1)}, []solve.Step{edgeStep(2, 0, most(0, 1), least(2, 1))})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got, err := Verify(context.Background(), p, strings.NewReader(tell(false))); err != nil || got.Bound != 2 {
		t.Errorf("bound %d, error %v", got.Bound, err)
	}
	var fault *StepError
	if _, err := Verify(context.Background(), p, strings.NewReader(tell(true))); !errors.As(err, &fault) || fault.Nogood != 0 {
		t.Errorf("error %v", err)
	}
}

func TestReadersAndWriters(t *testing.T) {
	p := modelgen.Unit(2, 2)
	file := written(t, p, 1)
	broken := errors.New("broken")
	if _, err := Verify(context.Background(), p, io.MultiReader(strings.NewReader(file[:200]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := Verify(context.Background(), p, io.MultiReader(strings.NewReader(file), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Error(err)
	}
	long := strings.Replace(file, "search 1\n", "search 1\nnogood"+strings.Repeat(" 1>=0", 100_000)+"\n", 1)
	var fault *StepError
	if _, err := Verify(context.Background(), p, strings.NewReader(long)); !errors.As(err, &fault) || fault.Nogood != 0 {
		t.Error(err)
	}
	endless := strings.Repeat("search", longestLine/6+20_000)
	if _, err := Verify(context.Background(), p, strings.NewReader(endless)); err == nil || !strings.Contains(err.Error(), "line 1, column 1: the line is longer") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	many := strings.Replace(file, "end", strings.Repeat("nogood 1>=1 1<=0\nforget 19\n", 1000)+"end", 1)
	if _, err := Verify(ctx, p, strings.NewReader(many)); !errors.Is(err, context.Canceled) && !errors.As(err, &fault) {
		t.Error(err)
	}
	w := NewWriter(failing{broken}, p)
	prove(newChecker(t, p).tables, w)
	if err := w.Close(); !errors.Is(err, broken) {
		t.Error(err)
	}
	w = NewWriter(io.Discard, p)
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Error(err)
	}
	w.Forget(0)
	if w.Close() == nil {
		t.Error("told after the end without an error")
	}
}

// TestClaims: a Writer knows which bound it was told.
func TestClaims(t *testing.T) {
	w := NewWriter(io.Discard, modelgen.Unit(1, 1))
	for _, c := range []struct {
		facts []solve.Fact
		want  model.Time
	}{
		{[]solve.Fact{most(2, 0)}, model.Absent},
		{[]solve.Fact{most(0, 1)}, 2},
		{[]solve.Fact{most(0, 0)}, 2},
		{[]solve.Fact{least(0, 5)}, 2},
		{[]solve.Fact{most(0, 3), most(1, 0)}, 2},
		{nil, solve.Excluded},
	} {
		w.Learn(c.facts, nil)
		if got := w.Claims(); got != c.want {
			t.Errorf("after %v: %d, want %d", c.facts, got, c.want)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestDigest: problems that differ have different digests, and one that was read from
// a plan file has that of the one that was written.
func TestDigest(t *testing.T) {
	seen := map[string]uint64{}
	for seed := range uint64(300) {
		p := compile(t, randomPipeline(t, seed))
		digest, err := Digest(p)
		if err != nil {
			t.Fatal(err)
		}
		if before, ok := seen[digest]; ok {
			t.Fatalf("seeds %d and %d have one digest", before, seed)
		}
		seen[digest] = seed
		plan, _ := modelgen.RandomPlan(p, seed)
		var b bytes.Buffer
		if err := (&model.PlanFile{Problem: p, Plan: plan}).Encode(&b); err != nil {
			t.Fatal(err)
		}
		file, err := model.DecodePlan(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := Digest(file.Problem); again != digest {
			t.Fatalf("seed %d: a plan file changes the digest", seed)
		}
	}
}

// TestTee: files may be compressed, and written while they are checked.
func TestTee(t *testing.T) {
	p := modelgen.Unit(2, 2)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w, c := NewWriter(z, p), newChecker(t, p)
	both := Tee(w, c)
	if both.Lower() != model.Absent || Tee().Lower() != model.Absent {
		t.Error("a bound of nothing")
	}
	prove(c.tables, both)
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Verify(context.Background(), p, r)
	if err != nil || got.Bound != both.Lower() || got.Bound != 7 {
		t.Errorf("bounds %d and %d, error %v", got.Bound, both.Lower(), err)
	}
}

func FuzzVerify(f *testing.F) {
	problems := []*model.Problem{
		modelgen.Unit(2, 2),
		modelgen.Problem(modelgen.Spec{Devices: 2, MicroBatches: 2, Objective: model.Span, Limit: []model.Bytes{3}, Activation: []model.Bytes{2}}),
		modelgen.Problem(modelgen.Spec{Devices: 1, MicroBatches: 2, Backward: model.Auto, Limit: []model.Bytes{3}, Activation: []model.Bytes{2}}),
	}
	optima := []model.Time{7, 6, 6}
	for k, p := range problems {
		f.Add(byte(k), body(written(f, p, 2)))
		f.Add(byte(k), "search 1\nnogood 0<=5\nmemory 0 1 : 20>=1\nspan 0\norder 20 : 20<=0\nmonotone 20 21\ncycle 1 0\nforget 0\nend none 1\n")
	}
	f.Fuzz(func(t *testing.T, which byte, body string) {
		k := int(which) % len(problems)
		p := problems[k]
		digest, _ := Digest(p)
		head := fmt.Sprintf("flexpipe/proof 1\nobjective %s\nproblem %s\n", p.Pipeline.Objective, digest)
		got, err := Verify(context.Background(), p, strings.NewReader(head+body))
		if err == nil && got.Bound > optima[k] {
			t.Fatalf("proved %d, but a plan has %d: %s", got.Bound, optima[k], body)
		}
	})
}

// body returns a file without its header.
func body(file string) string { return file[strings.Index(file, searchWord):] }

// TestDocumentedFile verifies the example of docs/proof.md.
func TestDocumentedFile(t *testing.T) {
	page, err := os.ReadFile("../../docs/proof.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, found := strings.Cut(string(page), "```\n"+fileFormat)
	example, _, closed := strings.Cut(example, "```")
	if !found || !closed {
		t.Fatal("there is no example")
	}
	p := modelgen.Unit(1, 1)
	digest, err := Digest(p)
	if err != nil {
		t.Fatal(err)
	}
	example = fileFormat + strings.Replace(example, "sha256:DIGEST", digest, 1)
	got, err := Verify(context.Background(), p, strings.NewReader(example))
	if want := (Result{Bound: 3, Nogoods: 3, Steps: 3}); err != nil || got != want {
		t.Errorf("%+v, want %+v, error %v", got, want, err)
	}
}
