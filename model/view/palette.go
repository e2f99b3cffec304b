package view

import (
	"fmt"
	"io"

	"github.com/flexpipe/flexpipe/model"
)

// rgb is a colour.
type rgb struct{ r, g, b int }

// hues are the colours of the first chunk, light enough for dark text on a light
// and on a dark page.
var hues = map[model.Kind]rgb{
	model.Forward:        {0x6b, 0xa4, 0xf8},
	model.BackwardInput:  {0x5c, 0xc4, 0x8d},
	model.BackwardFull:   {0x45, 0xb8, 0xac},
	model.BackwardWeight: {0xf7, 0xc0, 0x48},
	model.SendForward:    {0xa9, 0xb4, 0xc2},
	model.SendBackward:   {0xc4, 0xb3, 0xb8},
}

var otherHues = []rgb{{0xb3, 0x8c, 0xeb}, {0xf2, 0x8f, 0xad}, {0xc9, 0xa2, 0x7a}, {0x8f, 0xc9, 0xd9}}

// color returns the colour of a class: later chunks are paler.
func (tr *track) color(c class) rgb {
	hue, ok := hues[c.kind]
	if !ok {
		hue = otherHues[int(c.kind)%len(otherHues)]
	}
	if tr.most == 1 {
		return hue
	}
	percent := 55 * c.chunk / (tr.most - 1)
	pale := func(v int) int { return v + (255-v)*percent/100 }
	return rgb{pale(hue.r), pale(hue.g), pale(hue.b)}
}

func (c rgb) String() string { return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b) }

// name is the name of a class in a style sheet.
func (c class) name() string { return fmt.Sprintf("k%dc%d", c.kind, c.chunk) }

// classes lists the classes of kinds.
func (tr *track) classes(kinds []model.Kind) []class {
	var all []class
	for _, k := range kinds {
		for chunk := range tr.most {
			if chunk == 0 || !k.IsTransfer() {
				all = append(all, class{k, chunk})
			}
		}
	}
	return all
}

// styleSheet writes the colours of kinds for light and dark pages.
func (tr *track) styleSheet(w io.Writer, kinds []model.Kind) {
	fmt.Fprint(w, `<style>
text{font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:#1d2733}
.page{fill:#ffffff}.lane{fill:#eef1f4}.grid{stroke:#d5dbe2}.dim{fill:#5c6877}.n text,text.n{fill:#14233a;text-anchor:middle}.r{text-anchor:end}.m{text-anchor:middle}.gang{stroke:#14233a;stroke-width:1}
`)
	for _, c := range tr.classes(kinds) {
		fmt.Fprintf(w, ".%s{fill:%s}.s .%[1]s{fill:none;stroke:%s}\n", c.name(), tr.color(c), tr.color(c))
	}
	fmt.Fprint(w, `@media (prefers-color-scheme:dark){
text{fill:#e6ebf1}.page{fill:#14181e}.lane{fill:#1f252d}.grid{stroke:#343c47}.dim{fill:#97a3b2}.n text,text.n{fill:#14233a}.gang{stroke:#e6ebf1}
}
</style>
`)
}
