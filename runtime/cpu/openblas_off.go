//go:build !openblas || !cgo

package cpu

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Tiles of a call of gonum's Sgemm, which starts goroutines from four blocks of 64×64 of its
// result on: a tile has three. Its serial code is a row of b times a number, added to a row
// of c; long rows are fast, and tileDepth rows of b (48 KiB) stay in the second-level cache
// for all rows of a. With b transposed gonum takes scalar products, whose order of summation
// depends on the alignment of memory: the tile of b is transposed into pack instead. What is
// zero in a is left out, so that 0·NaN is 0 here.
//
// Measured on one core: tiles of 128 columns are 10 % slower, of 64 columns 40 %; depth and
// the order of the loops make no difference that could be told from noise.
const (
	tileRows  = 64
	tileCols  = 192
	tileDepth = 64

	// packSize is the work space of a product, in elements.
	packSize = tileCols * tileDepth
)

// oneCore has nothing to do: tiles are too small for goroutines.
func oneCore() {}

// product adds op(a)·op(b), m×k by k×n, to c.
func product(transA, transB bool, c, a, b view, m, n, k int, pack []float32) {
	for j := 0; j < n; j += tileCols {
		cols := min(tileCols, n-j)
		for l := 0; l < k; l += tileDepth {
			depth := min(tileDepth, k-l)
			var tile view
			if transB {
				tile = dense(pack, cols)
				transpose(tile, b.at(j, l), depth, cols)
			} else {
				tile = b.at(l, j)
			}
			for i := 0; i < m; i += tileRows {
				tileProduct(transA, c.at(i, j), a, tile, i, l, min(tileRows, m-i), cols, depth)
			}
		}
	}
}

// tileProduct is a product without goroutines, of rows i and columns l onwards of op(a).
func tileProduct(transA bool, c, a, b view, i, l, m, n, k int) {
	if transA {
		a = a.at(l, i)
		gonum.Implementation{}.Sgemm(blas.Trans, blas.NoTrans, m, n, k, 1, a.data, a.stride, b.data, b.stride, 1, c.data, c.stride)
		return
	}
	a = a.at(i, l)
	gonum.Implementation{}.Sgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a.data, a.stride, b.data, b.stride, 1, c.data, c.stride)
}

// transpose writes the transpose of b, which has cols rows, as rows×cols to t.
func transpose(t, b view, rows, cols int) {
	for j := range cols {
		from := b.data[j*b.stride:][:rows]
		for l, v := range from {
			t.data[l*t.stride+j] = v
		}
	}
}
