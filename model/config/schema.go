package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// schema says which keys a mapping may have, and what may stand below each. A nil
// schema is that of a value without keys. The schema of a list is that of its
// entries.
type schema map[string]schema

// anyKey as the only key of a schema allows all keys.
const anyKey = "*"

// partSchema describes a run of equal layers.
var partSchema = schema{
	"kind": nil, "layers": nil, "hidden": nil, "heads": nil, "sequence": nil,
	"vocabulary": nil, "feed_forward": nil, "tied_embedding": nil,
}

// memorySchema describes what a stage holds, in a configuration and in a profile.
var memorySchema = schema{
	"activation": nil, "freed_by_backward_input": nil, "freed_by_backward_weight": nil, "static": nil,
}

// waitSchema describes what an operation waits for.
var waitSchema = schema{"kind": nil, "stage": nil, "lag": nil}

// configSchema describes a configuration.
var configSchema = schema{
	"version": nil, "name": nil,
	"devices":       {"name": nil, "memory_limit": nil, "slowdown": nil},
	"micro_batches": nil, "stages": nil, "placement": nil, "routes": nil, "route_of": nil, "edges": nil, "unit": nil,
	"costs": {
		"forward": nil, "backward_input": nil, "backward_weight": nil, "backward_full": nil, "overlapped": nil,
	},
	"backward": nil,
	"communication": {
		"latency": nil, "mode": nil,
		"links": {"from": nil, "to": nil, "latency": nil},
	},
	"memory":    extend(memorySchema, "limit"),
	"objective": nil, "profile": nil,
	"model": with(extend(partSchema, "micro_batch_size", "dtype", "loss", "vocabulary_sharding"), schema{
		"encoder": partSchema, "decoder": partSchema, "branches": partSchema, "joint": partSchema,
	}),
	"cluster": {
		"flops": nil, "efficiency": nil, "link_bandwidth": nil, "link_latency": nil,
		"devices_per_node": nil, "node_bandwidth": nil,
	},
	"partition": nil, "recompute": nil, "global_batch": nil,
	"operations": {
		"name": nil, "letter": nil, "stages": nil, "once": nil, "devices": nil, "engine": nil, "link": nil,
		"duration": nil, "fixed": nil, "after": waitSchema, "before": waitSchema, "takes": nil, "gives": nil,
	},
}

// measurementSchema describes the duration of one kind of operation in a profile.
var measurementSchema = schema{"median": nil, "alone": nil, "p10": nil, "p90": nil, "samples": nil}

// profileSchema describes a profile.
var profileSchema = schema{
	"format": nil, "version": nil, "unit": nil, "micro_batch_size": nil,
	"stages": {
		"durations": {
			"forward": measurementSchema, "backward_input": measurementSchema, "backward_weight": measurementSchema,
			"backward_full": measurementSchema, "overlapped": measurementSchema,
		},
		"memory": memorySchema,
	},
	"layers": {
		"part": nil, "name": nil,
		"durations": {
			"forward": measurementSchema, "backward_input": measurementSchema, "backward_weight": measurementSchema,
			"recompute_selective": measurementSchema, "recompute_full": measurementSchema,
		},
		"memory": {"activation": nil, "retained": nil, "selective": nil, "full": nil, "work": nil, "selective_work": nil, "full_work": nil},
	},
	"network":    nil,
	"link":       {"latency": nil, "bandwidth": nil},
	"edges":      {"from": nil, "to": nil, "latency": nil},
	"provenance": {anyKey: nil},
}

// extend returns s with further keys that have no schema of their own.
func extend(s schema, keys ...string) schema {
	more := schema{}
	for _, key := range keys {
		more[key] = nil
	}
	return with(s, more)
}

// with returns the union of s and more.
func with(s, more schema) schema {
	union := maps.Clone(s)
	maps.Copy(union, more)
	return union
}

// maxKeyProblems bounds how many wrong keys of a document are reported.
const maxKeyProblems = 20

// checkKeys fails for every key below v that is unknown, written twice or not text.
func checkKeys(v value, s schema) {
	if s == nil || len(*v.doc.problems) >= maxKeyProblems {
		return
	}
	if v.node.Kind == yaml.SequenceNode {
		for i := range v.node.Content {
			checkKeys(v.item(i), s)
		}
	}
	if v.node.Kind != yaml.MappingNode {
		return
	}
	firstLine := map[string]int{}
	for i := 0; i+1 < len(v.node.Content) && len(*v.doc.problems) < maxKeyProblems; i += 2 {
		checkKey(v, v.node.Content[i], s, firstLine)
		below := value{doc: v.doc, node: v.node.Content[i+1], path: join(v.path, keyName(v.node.Content[i].Value))}
		checkKeys(below, s[v.node.Content[i].Value])
	}
}

// checkKey fails for one key of the mapping v. firstLine holds the line of each key
// seen before it.
func checkKey(v value, key *yaml.Node, s schema, firstLine map[string]int) {
	at := value{doc: v.doc, node: key, path: v.path}
	if key.Kind != yaml.ScalarNode || key.Tag != "!!str" {
		at.fail(describe(key)+" is not a key", "write keys as plain words")
		v.doc.misspelt[v.node] = true
		return
	}
	at.path = join(v.path, keyName(key.Value))
	if line, seen := firstLine[key.Value]; seen {
		at.fail("written twice, first on line "+fmt.Sprint(line), "keep one of the two")
		return
	}
	firstLine[key.Value] = key.Line
	_, known := s[key.Value]
	_, open := s[anyKey]
	if !known && !open {
		words := slices.Sorted(maps.Keys(s))
		at.fail("unknown key", didYouMean(key.Value, words, "the keys here are "+strings.Join(words, ", ")))
		v.doc.misspelt[v.node] = true
	}
}
