package network

import "fmt"

// A DType is the element type of weights and activations in matrix products.
// Its text forms are bf16, fp16 and fp32. The zero value is [BF16].
type DType uint8

// The element types.
const (
	BF16 DType = iota
	FP16
	FP32
)

var dtypes = [...]struct {
	name    string
	element int64
	state   int64
}{
	BF16: {"bf16", 2, 18},
	FP16: {"fp16", 2, 18},
	FP32: {"fp32", 4, 16},
}

// ParseDType returns the element type with the given name.
func ParseDType(name string) (DType, error) {
	for d, row := range dtypes {
		if row.name == name {
			return DType(d), nil
		}
	}
	return 0, fmt.Errorf("unknown dtype %q; known are bf16, fp16, fp32", name)
}

// String returns the name of d.
func (d DType) String() string {
	if !d.valid() {
		return fmt.Sprintf("DType(%d)", uint8(d))
	}
	return dtypes[d].name
}

// MarshalText returns the name of d.
func (d DType) MarshalText() ([]byte, error) {
	if !d.valid() {
		return nil, fmt.Errorf("unknown dtype %d", uint8(d))
	}
	return []byte(d.String()), nil
}

// UnmarshalText is [ParseDType].
func (d *DType) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDType(string(text))
	return err
}

// Bytes returns the size of one element: 2 or 4.
func (d DType) Bytes() int64 { return dtypes[d].element }

// StateBytes returns the bytes that training with Adam keeps per parameter.
//
// With 16-bit elements these are 18, as in Megatron-LM: the weight 2, its
// gradient accumulated in 32 bits 4, the 32-bit master copy 4, and the two
// moments 8. (Rajbhandari et al., "ZeRO", arXiv:1910.02054, Section 3.1, arrive
// at 16 with a 16-bit gradient.) With 32-bit elements they are 16: weight 4,
// gradient 4, moments 8.
func (d DType) StateBytes() int64 { return dtypes[d].state }

func (d DType) valid() bool { return int(d) < len(dtypes) }

// check returns an error, in the name of owner, unless d is a known type.
func (d DType) check(owner string) error {
	if d.valid() {
		return nil
	}
	return &FieldError{Owner: owner, Field: "dtype", Value: d, Problem: "known are bf16, fp16, fp32"}
}
