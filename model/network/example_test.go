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
