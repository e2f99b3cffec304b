package tune

import (
	"context"
	"sync"
)

// each calls f with 0 to n-1 on so many goroutines, in no particular order. When the
// context ends it starts no further call.
func each(ctx context.Context, workers, n int, f func(i int)) {
	next := make(chan int)
	var wait sync.WaitGroup
	for range min(workers, n) {
		wait.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wait.Wait()
}
