//go:build openblas && cgo

package cpu

/*
#cgo pkg-config: openblas
#include <stddef.h>
#include <cblas.h>
*/
import "C"

import "unsafe"

// packSize is the work space of a product, in elements: OpenBLAS has its own.
const packSize = 0

// oneCore makes OpenBLAS compute in the thread that calls it: each actor has one core. It holds
// for the whole process.
func oneCore() { C.openblas_set_num_threads(1) }

// product adds op(a)·op(b), m×k by k×n, to c. The order of sums is that of OpenBLAS, which
// depends on the processor, but not on its load.
func product(transA, transB bool, c, a, b view, m, n, k int, _ []float32) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	C.cblas_sgemm(C.CblasRowMajor, transposition(transA), transposition(transB),
		C.blasint(m), C.blasint(n), C.blasint(k),
		1, pointer(a), C.blasint(a.stride), pointer(b), C.blasint(b.stride),
		1, pointer(c), C.blasint(c.stride))
}

func transposition(t bool) C.enum_CBLAS_TRANSPOSE {
	if t {
		return C.CblasTrans
	}
	return C.CblasNoTrans
}

func pointer(v view) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(v.data))) }
