package network

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// A FieldError reports a value that a description cannot have.
type FieldError struct {
	// Owner is what the field belongs to: "gpt", "mlp" or "cluster".
	Owner string
	// Field is the name that configurations use, such as "micro_batch_size".
	Field string
	// Value is the offending value.
	Value any
	// Problem says what is wrong with it and what would be right.
	Problem string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: %s is %v: %s", e.Owner, e.Field, e.Value, e.Problem)
}

// A PartitionError reports layers that cannot be cut into stages as asked.
type PartitionError struct {
	// Layers and Stages are the numbers that do not go together.
	Layers, Stages int
	// Ends says that embedding and head are the first and the last of Layers.
	Ends bool
	// Problem says why.
	Problem string
}

func (e *PartitionError) Error() string {
	what := model.Plural(e.Layers, "layer")
	if e.Ends {
		what = model.Plural(e.Layers-2, "layer") + ", embedding and head"
	}
	return fmt.Sprintf("cannot cut %s into %s: %s", what, model.Plural(e.Stages, "stage"), e.Problem)
}

// partitionErrorf returns a [PartitionError] with a formatted problem.
func partitionErrorf(layers, stages int, format string, args ...any) error {
	return &PartitionError{Layers: layers, Stages: stages, Problem: fmt.Sprintf(format, args...)}
}

// A dimension is a named size of a network.
type dimension struct {
	field string
	value int
}

// checkPositive returns an error for the first dimension below one.
func checkPositive(owner string, dims ...dimension) error {
	for _, d := range dims {
		if d.value < 1 {
			return &FieldError{Owner: owner, Field: d.field, Value: d.value, Problem: "must be at least 1"}
		}
	}
	return nil
}

// Limits on the size of a network. Bytes leave a factor of two to the end of
// int64, so that sums over layers cannot overflow.
const (
	maxLayers = 1 << 20
	maxBytes  = 1 << 62
)

// checkSize returns an error if there are too many layers, or if bytes, an upper
// bound for the whole network, is too large to count.
func checkSize(owner string, layers int, bytes float64) error {
	switch {
	case layers > maxLayers:
		return &FieldError{owner, "layers", layers, fmt.Sprintf("must be at most %d", maxLayers)}
	case bytes >= maxBytes:
		return &FieldError{owner, "size", fmt.Sprintf("about %.2g bytes", bytes), "too large to count in 64 bits; reduce the dimensions"}
	}
	return nil
}
