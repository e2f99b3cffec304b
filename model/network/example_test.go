package network_test

import (
	"fmt"
	"log"
	"time"

	"github.com/flexpipe/flexpipe/model/network"
)

// A model with a large vocabulary on four devices: the exact partition gives the
// stage that has the head fewer blocks.
func Example() {
	gpt := network.GPT{
		Layers: 24, Hidden: 2304, Heads: 24, Sequence: 1024, Vocabulary: 128256, MicroBatchSize: 1,
	}
	cluster := network.Cluster{
		FLOPs: 312e12, Efficiency: 0.45,
		LinkBandwidth: 25e9, LinkLatency: 5 * time.Microsecond,
	}

	layers, err := gpt.Chain()
	if err != nil {
		log.Fatal(err)
	}
	partition, err := network.Balanced(layers, 4, network.BalanceOptions{})
	if err != nil {
		log.Fatal(err)
	}
	stages, err := network.Stages(layers, cluster, partition, nil)
	if err != nil {
		log.Fatal(err)
	}
	for s, stage := range stages {
		fmt.Printf("stage %d: %s to %s, F %d I %d W %d µs\n",
			s, layers[stage.First].Name, layers[stage.End-1].Name,
			stage.Forward.Microseconds(), stage.BackwardInput.Microseconds(), stage.BackwardWeight.Microseconds())
	}
	latency, err := cluster.Latency(0, 1, stages[0].Output)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("between stages:", latency)
	// Output:
	// stage 0: embedding to block 6, F 6986 I 7468 W 6504 µs
	// stage 1: block 7 to block 13, F 6986 I 7468 W 6504 µs
	// stage 2: block 14 to block 20, F 6986 I 7468 W 6504 µs
	// stage 3: block 21 to head, F 7304 I 7511 W 7098 µs
	// between stages: 193.744µs
}

// Two branches and their loss on three devices: the image does more work and gets two
// stages of three.
func ExamplePartStages() {
	clip := network.TwoBranch{
		Branches: [2]network.Stack{
			{Layers: 12, Hidden: 768, Heads: 12, Sequence: 50},
			{Layers: 12, Hidden: 512, Heads: 8, Sequence: 77, Vocabulary: 49408},
		},
		MicroBatchSize: 64,
	}
	cluster := network.Cluster{FLOPs: 312e12, Efficiency: 0.45, LinkBandwidth: 25e9}

	parts, err := clip.Parts()
	if err != nil {
		log.Fatal(err)
	}
	partition, err := network.BalancedParts(parts, 3, network.BalanceOptions{})
	if err != nil {
		log.Fatal(err)
	}
	stages, err := network.PartStages(parts, cluster, partition, nil)
	if err != nil {
		log.Fatal(err)
	}
	after := network.StageGraph(parts, stages)
	for s, stage := range stages {
		part := parts[stage.Part]
		fmt.Printf("stage %d: %s, %s to %s, F %d µs, after %v\n", s, part.Name,
			part.Layers[stage.First].Name, part.Layers[stage.End-1].Name, stage.Forward.Microseconds(), after[s])
	}
	// Output:
	// stage 0: branch 0, block 0 to block 5, F 1956 µs, after []
	// stage 1: branch 0, block 6 to block 11, F 1956 µs, after [0]
	// stage 2: branch 1, embedding to block 11, F 2716 µs, after []
	// stage 3: loss, join to join, F 0 µs, after [1 2]
}
