package config

import (
	"slices"
	"testing"
)

// checkInvariants fails for a Config that breaks what its documentation promises.
func checkInvariants(t *testing.T, c *Config) {
	t.Helper()
	devices, stages := len(c.Devices), c.Stages
	want := func(ok bool, what string) {
		t.Helper()
		if !ok {
			t.Errorf("broken promise: %s", what)
		}
	}
	want(devices >= 1 && devices <= MaxDevices, "1 to MaxDevices devices")
	want(stages >= 1 && stages <= MaxStages, "1 to MaxStages stages")
	want(c.MicroBatches >= 1 && c.MicroBatches <= MaxMicroBatches, "1 to MaxMicroBatches micro-batches")
	want(stages*c.MicroBatches*4 <= MaxOperations, "at most MaxOperations operations")
	want(c.Factors == nil || len(c.Factors) == c.MicroBatches, "a factor per micro-batch")
	want(!slices.ContainsFunc(c.Factors, func(d Decimal) bool { return d.Sign() <= 0 }), "positive factors")
	for _, device := range c.Devices {
		want(device.Slowdown.Sign() > 0, "positive slowdown")
		want(device.Limit == nil || device.Limit.Sign() >= 0, "limit not negative")
	}
	want(len(c.Placement.Devices) == stages, "a placement per stage")
	want((c.Routes == nil) == (c.RouteOf == nil) && (c.Routes == nil || len(c.RouteOf) == c.MicroBatches), "a route per micro-batch")
	for _, route := range c.RouteOf {
		want(route >= 0 && route < len(c.Routes), "known routes")
	}
	gangs := slices.Clone(c.Placement.Devices)
	for i, route := range c.Routes {
		want(len(route.Devices) == stages && slices.Contains(c.RouteOf, i), "a placement and a micro-batch per route")
		gangs = append(gangs, route.Devices...)
	}
	for _, gang := range gangs {
		want(len(gang) > 0 && slices.IsSorted(gang) && gang[0] >= 0 && gang[len(gang)-1] < devices, "gangs of known devices")
		want(len(slices.Compact(slices.Clone(gang))) == len(gang), "gangs without repetition")
	}
	want(len(c.Backward) == stages, "a backward per stage")
	want(c.Objective == Makespan || c.Objective == Span, "a known objective")
	checkGraph(want, c)
	checkSources(want, c)
	for i := range c.Operations {
		checkOperation(want, c, &c.Operations[i])
	}
}

// checkGraph checks the stage graph and the communication over it.
func checkGraph(want func(bool, string), c *Config) {
	for _, edge := range c.Edges {
		want(edge.From != edge.To && min(edge.From, edge.To) >= 0 && max(edge.From, edge.To) < c.Stages, "edges between two known stages")
	}
	want(findCycle(c.Stages, c.Edges) == nil, "no cycle")
	want(c.Edges != nil || c.Model != nil && len(c.Model.Parts) > 1, "edges unless the network decides")
	want(c.Communication.Latency.Sign() >= 0, "latency not negative")
	latencies := c.Communication.EdgeLatency
	want(latencies == nil || len(latencies) == len(c.Edges), "a latency per edge")
	for _, link := range c.Communication.Links {
		want(link.From != link.To && min(link.From, link.To) >= 0 && max(link.From, link.To) < len(c.Devices), "links between two known devices")
	}
}

// checkSources checks costs, memory and what a model brings.
func checkSources(want func(bool, string), c *Config) {
	want((c.Model == nil) == (len(c.Costs) == c.Stages), "costs or a model")
	want((c.Model == nil) == (c.Cluster == nil) && (c.Model == nil) == (c.Partition == nil) && (c.Model == nil) == (c.Recompute == nil), "a model with all that belongs to it")
	want(c.Memory == nil || len(c.Memory) == c.Stages, "memory per stage")
	for _, memory := range c.Memory {
		want(memory.FreedByBackwardInput.Add(memory.FreedByBackwardWeight).Equal(memory.Activation), "parts that sum to the activation")
		want(min(memory.Activation.Sign(), memory.FreedByBackwardWeight.Sign(), memory.Static.Sign()) >= 0, "memory not negative")
	}
	for stage, costs := range c.Costs {
		want(costs.Forward.Sign() >= 0, "forward not negative")
		want(costs.Overlapped == nil || costs.BackwardFull != nil, "overlapped beside a full backward")
		one := (costs.BackwardInput == nil) != (costs.BackwardWeight == nil)
		want(!one || costs.BackwardFull == nil, "no full backward with just one part")
		if costs.BackwardInput == nil && costs.BackwardFull != nil || costs.BackwardInput != nil && !one && c.Backward[stage] == Fused {
			want(c.Backward[stage] == Fused && costs.BackwardFull != nil, "fused stages have a full backward")
		}
	}
	if c.Model != nil && len(c.Costs) == 0 && c.Partition != nil && c.Partition.Stages != nil {
		sum := 0
		for _, stage := range c.Partition.Stages {
			sum += stage.Layers
		}
		want(sum == c.Model.Layers() && len(c.Partition.Stages) == c.Stages, "a partition of all layers")
	}
	for _, edge := range c.Edges {
		if c.Costs != nil {
			want(!c.Costs[edge.From].HasBackward() || c.Costs[edge.To].SendsGradient(), "a gradient for each backward")
		}
	}
}

// checkOperation checks an operation of the configuration's own.
func checkOperation(want func(bool, string), c *Config, o *Operation) {
	want(o.Name != "" && o.Letter != "", "a name and a letter")
	want(o.Stages == nil || len(o.Stages) > 0, "stages or none")
	for _, stage := range o.Stages {
		want(stage >= 0 && stage < c.Stages, "known stages")
	}
	want(len(o.Duration) == o.count() && len(o.Takes) == o.count() && len(o.Gives) == o.count(), "amounts for each stage")
	for i := range o.Duration {
		want(min(o.Duration[i].Sign(), o.Takes[i].Sign(), o.Gives[i].Sign()) >= 0, "amounts not negative")
	}
	places := 0
	for _, given := range []bool{o.Devices != nil, o.Engine != "", o.Link != ""} {
		if given {
			places++
		}
	}
	want(places <= 1 && (places == 1 || o.Stages != nil) && (o.Engine == "" || o.Stages != nil), "one place to run")
	want(slices.IsSorted(o.Devices) && (o.Devices == nil || len(o.Devices) > 0), "devices in order")
	for _, w := range slices.Concat(o.After, o.Before) {
		want(w.Kind != "" && w.Lag.Sign() >= 0 && w.Stage >= 0 && w.Stage < c.Stages, "waits for something")
		fixed := w.Stages == NoStage || w.Stages == AtStage || w.Stages == AllStages
		want(fixed || o.Stages != nil && (w.Stages == SameStage || w.Stages == NextStages || w.Stages == PreviousStages), "waits from a stage")
	}
}
