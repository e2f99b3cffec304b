//go:build clp && cgo

package clp

// #cgo pkg-config: clp
// #include "shim.h"
import "C"

import (
	"context"
	"reflect"
	"runtime"
	"unsafe"

	"github.com/lanl/clp"

	"github.com/flexpipe/flexpipe/solve/lp"
)

// instance holds a program in CLP. It is the one place that calls the library,
// for two reasons. The library frees what it holds when the garbage collector
// finds no more use of the Go object, even while C code works on it: every call
// here is followed by runtime.KeepAlive. And it cannot change a bound nor stop a
// solve, which the functions of shim.h do on the object behind it.
type instance struct {
	simplex *clp.Simplex
	object  unsafe.Pointer // the ClpSimplex
	stop    *C.int         // nonzero: end the solve
	lo, hi  []C.double
}

// undecided is the status with which one method of CLP hands over to the other.
const undecided = 10

func load(p *lp.Problem) *instance {
	n := len(p.Objective)
	matrix := clp.NewPackedMatrix()
	columns, entries := make([][]clp.Nonzero, n), 0
	rows := make([]clp.Bounds, len(p.Rows))
	for i := range p.Rows {
		r := &p.Rows[i]
		rows[i] = clp.Bounds{Lower: finite(r.Lower), Upper: finite(r.Upper)}
		for k, j := range r.Cols {
			if r.Values[k] != 0 {
				entries++
				columns[j] = append(columns[j], clp.Nonzero{Index: i, Value: r.Values[k]})
			}
		}
	}
	matrix.Reserve(n, entries, false) // or each column would copy all before it
	matrix.SetDimensions(len(p.Rows), 0)
	for _, c := range columns {
		matrix.AppendColumn(c)
	}
	in := &instance{simplex: clp.NewSimplex(), lo: make([]C.double, n), hi: make([]C.double, n)}
	in.simplex.LoadProblem(matrix, make([]clp.Bounds, n), p.Objective, rows, nil)
	runtime.KeepAlive(matrix)
	in.object = reflect.ValueOf(in.simplex).Elem().FieldByName("model").UnsafePointer()
	in.stop = C.flexpipe_watch(in.object)
	runtime.AddCleanup(in, func(stop *C.int) { C.flexpipe_free(stop) }, in.stop)
	return in
}

// solve solves with the bounds given and returns CLP's status.
func (in *instance) solve(ctx context.Context, lo, hi []float64) int {
	for j := range lo {
		in.lo[j], in.hi[j] = C.double(finite(lo[j])), C.double(finite(hi[j]))
	}
	C.flexpipe_set_bounds(in.object, C.int(len(lo)), unsafe.SliceData(in.lo), unsafe.SliceData(in.hi))
	C.flexpipe_stop(in.stop, 0)
	ended := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		C.flexpipe_stop(in.stop, 1)
		close(ended)
	})
	status := in.simplex.Dual(clp.NoValuesPass, clp.NoStartFinishOptions)
	if status != 0 && ctx.Err() == nil { // a second opinion, and 10 means: try the other method
		status = in.simplex.Primal(clp.NoValuesPass, clp.NoStartFinishOptions)
	}
	if status == undecided && ctx.Err() == nil {
		status = in.simplex.Dual(clp.NoValuesPass, clp.NoStartFinishOptions)
	}
	if status == clp.Optimal && in.simplex.SecondaryStatus() == clp.SecondaryScaledOptimalUnscaledDualInfeasible {
		status = clp.Unbounded // its best point is some 1e15 away
	}
	if !release() {
		<-ended // the flag may be freed from here on
	}
	runtime.KeepAlive(in.simplex)
	runtime.KeepAlive(in)
	return int(status)
}

// columns returns the values of the columns.
func (in *instance) columns() []float64 {
	x := in.simplex.PrimalColumnSolution()
	runtime.KeepAlive(in.simplex)
	return x
}
