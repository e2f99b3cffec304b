package cssr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flexpipe/flexpipe/model/config"
)

// site is the place of a number in a configuration: the keys that may give it, apart
// by spaces, in which # stands for the index of a stage, device, link or micro-batch.
type site struct {
	keys  string
	index int
}

// place returns where the number stands.
func (s site) place(cfg *config.Config) config.Place {
	return cfg.Locate(strings.Fields(strings.ReplaceAll(s.keys, "#", strconv.Itoa(s.index)))...)
}

// source is where the durations or the sizes of the stages stand: the keys of a
// [site] for each of them.
type source []string

// site returns the place of a number of a stage of the configuration.
func (s source) site(number, stage int) site { return site{s[number], stage} }

// sourceOf returns a source with the given keys between before and after.
func sourceOf(before string, keys []string, after string) source {
	list := make(source, len(keys))
	for i, key := range keys {
		list[i] = before + key + after
	}
	return list
}

// costSource returns where the durations of the stages stand.
func costSource(cfg *config.Config) source {
	switch {
	case cfg.Model != nil:
		return slices.Repeat(source{"model"}, numDurations)
	case cfg.Profile != nil:
		return sourceOf("profile.stages[#].durations.", durationKeys[:], "")
	}
	return sourceOf("costs.", durationKeys[:], "[#]")
}

// memorySource returns where the sizes of the stages stand.
func memorySource(cfg *config.Config) source {
	switch {
	case cfg.Model != nil:
		return slices.Repeat(source{"model"}, numSizes)
	case cfg.Profile != nil && cfg.Profile.Stages[0].Memory != nil:
		return sourceOf("profile.stages[#].memory.", sizeKeys[:], "")
	}
	return sourceOf("memory.", sizeKeys[:], "[#]")
}

// latencySource returns where the latencies between devices stand that are not those
// of links.
func latencySource(cfg *config.Config) site {
	switch {
	case cfg.Measured():
		return site{keys: "profile.link.latency profile.link"}
	case cfg.Model != nil:
		return site{keys: "cluster.link_latency cluster"}
	case cfg.Communication.EdgeLatency != nil:
		return site{keys: "profile.edges"}
	}
	return site{keys: "communication.latency"}
}

// linkSite returns the place of the latency of a link.
func linkSite(link int) site { return site{"communication.links[#].latency", link} }

// limitSite returns the place of the memory limit of a device.
func limitSite(device int) site { return site{"devices[#].memory_limit memory.limit[#]", device} }
