package cpu

// A view is a row-major matrix inside a slice; stride is the distance between its rows.
type view struct {
	data   []float32
	stride int
}

// dense returns x as a matrix of the given width.
func dense(x []float32, cols int) view { return view{x, cols} }

// at returns the view whose first element is that at (row, col).
func (v view) at(row, col int) view { return view{v.data[row*v.stride+col:], v.stride} }

// multiply adds the product of a (m×k) and b (k×n) to c (m×n).
//
// Each element of c takes its k products in ascending order, one after the other, whatever
// the tiles are: with gonum, results depend on neither sizes of tiles nor the number of
// cores. pack is work space of packSize elements.
func multiply(c, a, b view, m, n, k int, pack []float32) {
	product(false, false, c, a, b, m, n, k, pack)
}

// multiplyTransposed adds a (m×k) times the transpose of b (n×k) to c (m×n), in the order of
// multiply. It is the gradient of an input: dx += dy·Wᵀ.
func multiplyTransposed(c, a, b view, m, n, k int, pack []float32) {
	product(false, true, c, a, b, m, n, k, pack)
}

// transposedMultiply adds the transpose of a (k×m) times b (k×n) to c (m×n), in the order of
// multiply. It is the gradient of a weight: dW += xᵀ·dy.
func transposedMultiply(c, a, b view, m, n, k int, pack []float32) {
	product(true, false, c, a, b, m, n, k, pack)
}

// linear writes y = x·W + bias, of shapes n×out, n×in, in×out and out; bias may be nil.
func linear(y, x []float32, w, bias *parameter, pack []float32) {
	n := len(x) / w.rows
	if bias == nil {
		clear(y)
	} else {
		for i := range n {
			copy(y[i*w.cols:], bias.value)
		}
	}
	multiply(dense(y, w.cols), dense(x, w.rows), dense(w.value, w.cols), n, w.cols, w.rows, pack)
}

// addLinear writes y = residual + x·W + bias, in the shapes of linear.
func addLinear(y, residual, x []float32, w, bias *parameter, pack []float32) {
	for i := 0; i < len(y); i += w.cols {
		row := y[i : i+w.cols]
		r, b := residual[i:i+len(row)], bias.value[:len(row)]
		for j := range row {
			row[j] = r[j] + b[j]
		}
	}
	multiply(dense(y, w.cols), dense(x, w.rows), dense(w.value, w.cols), len(x)/w.rows, w.cols, w.rows, pack)
}

// linearInput writes dx = dy·Wᵀ.
func linearInput(dx, dy []float32, w *parameter, pack []float32) {
	clear(dx)
	multiplyTransposed(dense(dx, w.rows), dense(dy, w.cols), dense(w.value, w.cols), len(dy)/w.cols, w.rows, w.cols, pack)
}

// linearWeight adds xᵀ·dy to the gradient of W, and the sum of the rows of dy to that of the
// bias, if there is one.
func linearWeight(x, dy []float32, w, bias *parameter, pack []float32) {
	n := len(x) / w.rows
	transposedMultiply(dense(w.grad, w.cols), dense(x, w.rows), dense(dy, w.cols), w.rows, w.cols, n, pack)
	if bias != nil {
		addRows(bias.grad, dy)
	}
}

// addRows adds the rows of x, in order, to sum.
func addRows(sum, x []float32) {
	for i := 0; i < len(x); i += len(sum) {
		add(sum, x[i:i+len(sum)])
	}
}

// add adds x to sum.
func add(sum, x []float32) {
	x = x[:len(sum)]
	for j := range sum {
		sum[j] += x[j]
	}
}
