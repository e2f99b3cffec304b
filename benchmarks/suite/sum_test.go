package suite

import "testing"

// TestSums recomputes the sums: an instance that changes is another instance, and
// results for it no longer compare.
func TestSums(t *testing.T) {
	instances, err := Instances()
	if err != nil {
		t.Fatal(err)
	}
	want, err := Sums()
	if err != nil {
		t.Fatal(err)
	}
	if len(want) != len(instances) {
		t.Errorf("%d sums, %d instances", len(want), len(instances))
	}
	for i := range instances {
		in := &instances[i]
		if have := in.Sum(); have != want[in.Name] {
			t.Errorf("%s  %s\n\tsums.txt has %q", have, in.Name, want[in.Name])
		}
	}
}

// TestSumCovers tests that the sum depends on the instance and not on what is known
// about it.
func TestSumCovers(t *testing.T) {
	instances, err := Instances()
	if err != nil {
		t.Fatal(err)
	}
	in := instances[0]
	before := in.Sum()
	in.BestBound, in.BestValue = 1, 2
	if in.Sum() != before {
		t.Error("the sum depends on the best values known")
	}
	in.Latency++
	if in.Sum() == before {
		t.Error("the sum does not depend on the latency")
	}
}
