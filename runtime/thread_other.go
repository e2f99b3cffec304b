//go:build !linux || !(amd64 || arm64)

package runtime

// threadTime is not known here.
func threadTime() int64 { return 0 }

// measuresThreads says that threadTime is that of the thread.
const measuresThreads = false
