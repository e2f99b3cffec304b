package cssr

import (
	"cmp"
	"maps"
	"math/big"
	"slices"

	"github.com/flexpipe/flexpipe/model/config"
)

// delays are the latencies between devices, in the unit of the configuration.
type delays struct {
	base  *big.Rat            // of pairs that are not listed
	pairs map[[2]int]*big.Rat // from, to
	links map[[2]int]int      // which link of the configuration sets a pair
	other site                // of the latencies that no link sets
}

// newDelays returns delays of base everywhere.
func newDelays(cfg *config.Config, base *big.Rat) *delays {
	return &delays{base: base, pairs: map[[2]int]*big.Rat{}, links: map[[2]int]int{}, other: latencySource(cfg)}
}

// site returns the place of the latency of a listed pair.
func (d *delays) site(pair [2]int) site {
	if link, ok := d.links[pair]; ok {
		return linkSite(link)
	}
	return d.other
}

// costDelays returns what a configuration without model says about latencies.
func costDelays(cfg *config.Config, l *layout) *delays {
	edges := cfg.Communication.EdgeLatency
	if edges == nil {
		d := newDelays(cfg, cfg.Communication.Latency.Rat())
		d.override(cfg.Communication.Links)
		return d
	}
	measured := make(map[config.Edge]*big.Rat, len(edges))
	for i, e := range cfg.Edges {
		measured[e] = edges[i].Rat()
	}
	d, _ := edgeDelays(cfg, l, func(from, to, _, _ int) (*big.Rat, error) {
		return edgeLatency(measured, l, from, to), nil
	})
	d.settle(cfg.Communication.Links)
	return d
}

// edgeLatency returns the latency of an edge between stages, given that of the
// edges of the configuration. Between chunks of the same stage nothing was
// measured; the slower of the edges that enter and leave the stage stands in, or
// 0 if there are none.
func edgeLatency(measured map[config.Edge]*big.Rat, l *layout, from, to int) *big.Rat {
	a, b := l.origin(from), l.origin(to)
	if a != b {
		return measured[config.Edge{From: a, To: b}]
	}
	slower := new(big.Rat)
	for _, e := range []config.Edge{{From: a - 1, To: a}, {From: a, To: a + 1}} {
		if t, ok := measured[e]; ok {
			slower = later(slower, t)
		}
	}
	return slower
}

// edgeDelays returns the latencies between the devices of stages that follow one
// another, in both directions, since gradients go back the way of the outputs.
// latency returns that of an edge between two stages when they sit on two
// devices. A pair of devices that serves several edges gets the slowest of
// their latencies: a problem has one per pair.
func edgeDelays(cfg *config.Config, l *layout, latency func(from, to, sender, receiver int) (*big.Rat, error)) (*delays, error) {
	d := newDelays(cfg, new(big.Rat))
	for _, devices := range append([][][]int{l.devices}, l.further...) {
		for to, after := range l.after {
			for _, from := range after {
				if slices.Equal(devices[from], devices[to]) {
					continue
				}
				err := eachPair(devices[from], devices[to], func(a, b int) error {
					t, err := latency(from, to, a, b)
					if err == nil {
						d.raise(a, b, t)
						d.raise(b, a, t)
					}
					return err
				})
				if err != nil {
					return nil, err
				}
			}
		}
	}
	return d, nil
}

// eachPair calls visit for each device of one gang with each of another, until it
// fails.
func eachPair(from, to []int, visit func(a, b int) error) error {
	for _, a := range from {
		for _, b := range to {
			if err := visit(a, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// raise sets the latency of a pair to at least t.
func (d *delays) raise(from, to int, t *big.Rat) {
	pair := [2]int{from, to}
	if old, ok := d.pairs[pair]; ok {
		t = later(old, t)
	}
	if from != to {
		d.pairs[pair] = t
	}
}

// settle makes the slowest listed latency the base, which leaves the fewest
// exceptions where all pairs are alike, and applies the links of the
// configuration.
func (d *delays) settle(links []config.Link) {
	for _, t := range d.pairs {
		d.base = later(d.base, t)
	}
	d.override(links)
	maps.DeleteFunc(d.pairs, func(_ [2]int, t *big.Rat) bool { return t.Cmp(d.base) == 0 })
}

// override applies the links of the configuration.
func (d *delays) override(links []config.Link) {
	for i, link := range links {
		pair := [2]int{link.From, link.To}
		d.pairs[pair], d.links[pair] = link.Latency.Rat(), i
	}
}

// sorted returns the listed pairs in ascending order.
func (d *delays) sorted() [][2]int {
	return slices.SortedFunc(maps.Keys(d.pairs), func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
}

// later returns the larger of two times.
func later(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}
