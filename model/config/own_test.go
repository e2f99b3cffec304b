package config

import "testing"

// ownHead stands before operations in tests.
const ownHead = "version: 1\ndevices: 4\nmicro_batches: 2\nunit: us\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n"

// decodeOwn returns the operations that a text writes.
func decodeOwn(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Decode([]byte(ownHead+text), "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, c)
	return c
}

func TestOperations(t *testing.T) {
	c := decodeOwn(t, `
operations:
  - {name: all_reduce2, stages: [3, 0], duration: [2, 1ms], once: true, fixed: true, after: [backward, {kind: backward_weight, stage: 0, lag: 1ns}], takes: 1GiB}
  - {name: all_reduce2, devices: [2, 1], duration: 0, before: {kind: forward, stage: all}}
  - {name: copy, letter: C, stages: 1, engine: dma, duration: 1, gives: [3KB], before: {kind: backward, stage: next}, after: {kind: forward, stage: previous}}
  - {name: send, stages: all, link: wire, duration: 1, after: forward, takes: none, gives: 0}
  - {name: flush, devices: all, duration: 1, after: {kind: all_reduce2, stage: none}}
  - {name: close, devices: 3, duration: 1, after: all_reduce2, before: {kind: copy, stage: 1}}
`)
	zero := Decimal{}
	same(t, []Operation{
		{
			Name: "all_reduce2", Letter: "ALL_REDUCE", Stages: []int{3, 0}, Once: true, Fixed: true,
			Duration: []Decimal{dec("2"), dec("1000")}, Takes: []Decimal{dec("1073741824"), dec("1073741824")}, Gives: []Decimal{zero, zero},
			After: []Wait{{Kind: "backward", Stages: SameStage}, {Kind: "backward_weight", Stages: AtStage, Lag: dec("0.001")}},
		},
		{
			Name: "all_reduce2", Letter: "ALL_REDUCE", Devices: []int{1, 2}, Duration: []Decimal{zero}, Takes: []Decimal{zero}, Gives: []Decimal{zero},
			Before: []Wait{{Kind: "forward", Stages: AllStages}},
		},
		{
			Name: "copy", Letter: "C", Stages: []int{1}, Engine: "dma", Duration: []Decimal{dec("1")}, Takes: []Decimal{zero}, Gives: []Decimal{dec("3000")},
			After: []Wait{{Kind: "forward", Stages: PreviousStages}}, Before: []Wait{{Kind: "backward", Stages: NextStages}},
		},
		{
			Name: "send", Letter: "SEND", Stages: []int{0, 1, 2, 3}, Link: "wire", Duration: []Decimal{dec("1"), dec("1"), dec("1"), dec("1")},
			Takes: []Decimal{zero, zero, zero, zero}, Gives: []Decimal{zero, zero, zero, zero},
			After: []Wait{{Kind: "forward", Stages: SameStage}},
		},
		{
			Name: "flush", Letter: "FLUSH", Devices: []int{0, 1, 2, 3}, Duration: []Decimal{dec("1")}, Takes: []Decimal{zero}, Gives: []Decimal{zero},
			After: []Wait{{Kind: "all_reduce2", Stages: NoStage}},
		},
		{
			Name: "close", Letter: "CLOSE", Devices: []int{3}, Duration: []Decimal{dec("1")}, Takes: []Decimal{zero}, Gives: []Decimal{zero},
			After: []Wait{{Kind: "all_reduce2", Stages: NoStage}}, Before: []Wait{{Kind: "copy", Stages: AtStage, Stage: 1}},
		},
	}, c.Operations)
	if !c.SizesInBytes {
		t.Error("sizes with a unit are not in bytes")
	}
}

// TestOperationTakes checks that a limit means something where only an operation
// takes memory.
func TestOperationTakes(t *testing.T) {
	c := decodeOwn(t, "memory: {limit: 4GiB}\noperations: [{name: sum, stages: 0, duration: 1, takes: 1GiB, gives: 1GiB}]\n")
	if len(c.Warnings) > 0 {
		t.Error(c.Warnings)
	}
	c = decodeOwn(t, "memory: {limit: 4GiB}\noperations: [{name: sum, stages: 0, duration: 1, takes: 5}]\n")
	if len(c.Warnings) != 1 || c.Warnings[0].Text != "5 is 5 bytes; did you mean 5GiB?" {
		t.Error(c.Warnings)
	}
}
