package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// form is one of the three products.
type form struct {
	name           string
	transA, transB bool
}

var forms = []form{{"x·W", false, false}, {"dy·Wt", false, true}, {"xt·dy", true, false}}

// operands returns c, a and b of a product m×k by k×n, with rows of three elements more than
// the matrices have.
func (f form) operands(r *rand.Rand, m, n, k int) (c, a, b view) {
	make := func(rows, cols int) view { return view{random(r, rows*(cols+3)), cols + 3} }
	am, ak, bk, bn := m, k, k, n
	if f.transA {
		am, ak = k, m
	}
	if f.transB {
		bk, bn = n, k
	}
	return make(m, n), make(am, ak), make(bk, bn)
}

func (f form) element(a, b view, i, j, l int) float64 {
	at, bt := i*a.stride+l, l*b.stride+j
	if f.transA {
		at = l*a.stride + i
	}
	if f.transB {
		bt = j*b.stride + l
	}
	return float64(a.data[at]) * float64(b.data[bt])
}

func TestProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	pack := make([]float32, packSize)
	for _, f := range forms {
		for _, s := range [][3]int{{1, 1, 1}, {1, 5, 3}, {3, 1, 70}, {65, 193, 65}, {64, 192, 64}, {130, 7, 129}, {5, 400, 2}} {
			m, n, k := s[0], s[1], s[2]
			c, a, b := f.operands(r, m, n, k)
			before := slices.Clone(c.data)
			product(f.transA, f.transB, c, a, b, m, n, k, pack)
			for i := range m {
				for j := range c.stride {
					want, size := float64(before[i*c.stride+j]), 0.0
					for l := 0; l < k && j < n; l++ {
						want += f.element(a, b, i, j, l)
						size += math.Abs(f.element(a, b, i, j, l))
					}
					got := float64(c.data[i*c.stride+j])
					if j >= n && got != want { // between the rows
						t.Fatalf("%s %v: wrote behind row %d", f.name, s, i)
					}
					if math.Abs(got-want) > 1e-6*(1+size) {
						t.Fatalf("%s %v: [%d,%d] = %v, want %v", f.name, s, i, j, got, want)
					}
				}
			}
		}
	}
}

// TestProductRepeats compares bits between numbers of cores, and between places in memory
// that are not aligned alike.
func TestProductRepeats(t *testing.T) {
	const m, n, k = 150, 401, 170
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, f := range forms {
		var want []uint32
		for _, cores := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(cores)
			for shift := range 4 {
				c, a, b := f.operands(rand.New(rand.NewPCG(1, 1)), m, n, k)
				for _, v := range []*view{&a, &b, &c} {
					v.data = append(make([]float32, shift), v.data...)[shift:]
				}
				product(f.transA, f.transB, c, a, b, m, n, k, make([]float32, packSize+shift)[shift:])
				if got := bits(c.data); want == nil {
					want = got
				} else if !slices.Equal(got, want) {
					t.Errorf("%s: other bits with %d cores, memory shifted by %d elements", f.name, cores, shift)
				}
			}
		}
	}
}

// TestProductStartsNoGoroutine looks at the stacks of all goroutines while products run. The
// sizes are such that a single call of gonum's Sgemm would start some.
func TestProductStartsNoGoroutine(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var enough atomic.Bool
	finished := make(chan bool)
	go func() {
		defer close(finished)
		r, pack := rand.New(rand.NewPCG(1, 1)), make([]float32, packSize)
		for i := 0; !enough.Load(); i++ {
			f := forms[i%len(forms)]
			c, a, b := f.operands(r, 300, 500, 300)
			product(f.transA, f.transB, c, a, b, 300, 500, 300, pack)
		}
	}()
	stacks := make([]byte, 1<<20)
	for seen := 0; seen < 30; {
		text := string(stacks[:runtime.Stack(stacks, true)])
		for stack := range strings.SplitSeq(text, "\n\n") {
			if strings.Contains(stack, "cpu.product(") {
				seen++
			} else if strings.Contains(stack, "blas/gonum") {
				enough.Store(true)
				t.Fatalf("a product runs in a goroutine of its own:\n%s", stack)
			}
		}
	}
	enough.Store(true)
	<-finished
}

func BenchmarkProduct(b *testing.B) {
	sizes := [][3]int{{64, 64, 64}, {128, 128, 128}, {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {512, 8192, 128}, {512, 128, 8192}, {128, 8192, 512}}
	pack := make([]float32, packSize)
	for _, f := range forms {
		for _, s := range sizes {
			b.Run(fmt.Sprintf("%s/%dx%dx%d", f.name, s[0], s[1], s[2]), func(b *testing.B) {
				c, x, y := f.operands(rand.New(rand.NewPCG(1, 1)), s[0], s[1], s[2])
				for b.Loop() {
					product(f.transA, f.transB, c, x, y, s[0], s[1], s[2], pack)
				}
				gigaflops(b, 2*float64(s[0])*float64(s[1])*float64(s[2]))
			})
		}
	}
}

// gigaflops reports the speed of a benchmark whose runs have so many operations each.
func gigaflops(b *testing.B, operations float64) {
	b.ReportMetric(operations*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
