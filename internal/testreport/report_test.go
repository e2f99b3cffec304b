package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	const (
		pass = `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: chatter\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.25}
`
		skip = `{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: clp: no library\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
`
		fail = `{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:9: got 1, want 2\n"}
{"Action":"output","Package":"p","Test":"TestC","Output":"--- FAIL: TestC (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.01s\n"}
{"Action":"fail","Package":"p"}
`
		ok = `{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.01s\n"}
{"Action":"pass","Package":"p"}
`
		build = `{"ImportPath":"q","Action":"build-output","Output":"q/q.go:1:1: syntax error\n"}
{"ImportPath":"q","Action":"build-fail"}
{"Action":"output","Package":"q","Output":"FAIL\tq [build failed]\n"}
{"Action":"fail","Package":"q","FailedBuild":"q"}
`
		panicked = `{"Action":"output","Package":"p","Test":"TestD","Output":"panic: boom\n"}
{"Action":"fail","Package":"p"}
`
	)
	tests := []struct {
		name     string
		in       string
		verbose  bool
		required string
		want     string
		ok       bool
	}{
		{name: "passes are quiet", in: pass + ok, want: "ok  \tp\t0.01s\n1 passed, 0 failed, 0 skipped\n", ok: true},
		{name: "verbose", in: pass, verbose: true, want: "--- PASS: TestA (0.25s)\n1 passed, 0 failed, 0 skipped\n", ok: true},
		{name: "a skip shows its reason", in: skip, required: "race, cuda", want: "--- SKIP: p TestB: clp: no library\n0 passed, 0 failed, 1 skipped\n", ok: true},
		{
			name: "a required skip fails", in: skip, required: "race,clp",
			want: "--- SKIP: p TestB: clp: no library\nFAIL required test was skipped: p TestB: clp: no library\n0 passed, 0 failed, 1 skipped\n",
		},
		{
			name: "a failure shows its output", in: pass + fail,
			want: "    c_test.go:9: got 1, want 2\n--- FAIL: TestC (0.00s)\nFAIL\tp\t0.01s\n1 passed, 1 failed, 0 skipped\n",
		},
		{
			name: "a broken build fails", in: pass + build,
			want: "q/q.go:1:1: syntax error\nFAIL\tq [build failed]\n1 passed, 0 failed, 0 skipped\n",
		},
		{name: "a panic shows its output", in: pass + panicked, want: "panic: boom\n1 passed, 0 failed, 0 skipped\n"},
		{name: "no tests", in: "go: something else\n", want: "go: something else\n0 passed, 0 failed, 0 skipped\nFAIL no test ran\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			r := newReport(&out, tt.verbose, strings.Split(tt.required, ","))
			if err := r.read(strings.NewReader(tt.in)); err != nil {
				t.Fatal(err)
			}
			if ok := r.finish(); ok != tt.ok {
				t.Errorf("finish() = %t, want %t", ok, tt.ok)
			}
			if out.String() != tt.want {
				t.Errorf("printed:\n%s\nwant:\n%s", out.String(), tt.want)
			}
		})
	}
}

func TestSkipReason(t *testing.T) {
	tests := []struct {
		output []string
		want   string
	}{
		{nil, "no reason given"},
		{[]string{"--- SKIP: TestX (0.00s)\n"}, "no reason given"},
		{[]string{"    x_test.go:3: first\n", "    x_test.go:4: race: needs cgo\n", "--- SKIP: TestX (0.00s)\n"}, "race: needs cgo"},
		{[]string{"plain words\n"}, "plain words"},
	}
	for _, tt := range tests {
		if got := skipReason(tt.output); got != tt.want {
			t.Errorf("skipReason(%q) = %q, want %q", tt.output, got, tt.want)
		}
	}
}
