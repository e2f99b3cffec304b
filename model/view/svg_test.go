package view_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/modelgen"
	"github.com/flexpipe/flexpipe/model/view"
)

func svg(t testing.TB, p *model.Problem, plan *model.Plan, tl *model.Timeline, o view.SVGOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := view.SVG(&b, p, plan, tl, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// elements parses a document and counts its elements by name.
func elements(t testing.TB, document []byte) map[string]int {
	t.Helper()
	counts := map[string]int{}
	d := xml.NewDecoder(bytes.NewReader(document))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return counts
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			counts[start.Name.Local]++
		}
	}
}

func TestSVG(t *testing.T) {
	for _, c := range []struct {
		name     string
		p        *model.Problem
		inFlight int
		options  view.SVGOptions
	}{
		{"unit", modelgen.Unit(4, 8), 4, view.SVGOptions{Bound: 27}},
		{"named", named(), 4, view.SVGOptions{}},
		{"v", vShape(4, 8), 0, view.SVGOptions{Width: 900}},
		{"oddities", oddities(), 0, view.SVGOptions{}},
		{"operations", operations(), 0, view.SVGOptions{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, tl := scheduled(t, c.p, c.inFlight)
			document := svg(t, c.p, plan, tl, c.options)
			golden(t, c.name+".svg", document)
			if n := elements(t, document)["title"]; n != plan.NumOps()+1 {
				t.Errorf("%d titles for %d operations and the document", n, plan.NumOps())
			}
		})
	}
}

func TestSVGOfRandomPlans(t *testing.T) {
	for seed := range uint64(100) {
		pl := modelgen.RandomPipeline(seed, 8)
		pl.Name, pl.TimeUnit.Name = "<&\"\x00>", "<µs>"
		p, err := model.Compile(pl)
		if err != nil {
			t.Fatal(err)
		}
		plan, _ := modelgen.RandomPlan(p, seed)
		tl, err := model.Evaluate(p, plan)
		if err != nil {
			t.Fatal(err)
		}
		document := svg(t, p, plan, tl, view.SVGOptions{Width: 100})
		elements(t, document)
		if strings.Contains(string(document), "NaN") || strings.Contains(string(document), `width="-`) {
			t.Errorf("seed %d: a length is no positive number", seed)
		}
	}
}

func BenchmarkSVG(b *testing.B) {
	p := modelgen.Unit(64, 512)
	plan := modelgen.OneForwardOneBackward(p)
	tl, err := model.Evaluate(p, plan)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := view.SVG(io.Discard, p, plan, tl, view.SVGOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
