package model

// DecodePlanSmall is DecodePlan with limits that keep a fuzzer fast.
func DecodePlanSmall(data []byte) (*PlanFile, error) {
	return decodePlan(string(data), planLimits{microBatches: 1 << 10, replicas: 1 << 8, repeated: 1 << 12, unlisted: 1 << 12})
}
