package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Entries of a listed partition that are not a number of layers.
const (
	embeddingEntry = "embedding"
	headEntry      = "head"
)

// readPartition reads how layers are divided among stages. It defaults to balanced.
func (d *decoder) readPartition() {
	model := d.config.Model
	if model == nil {
		return
	}
	d.config.Partition = &Partition{Rule: Balanced}
	v := d.root.get("partition")
	switch {
	case v.listed():
		d.config.Partition.Rule = PartitionListed
		d.readPartitionList(v)
	case !v.absent():
		d.config.Partition.Rule, _ = word(v, Balanced, Even)
	}
}

// readPartitionList reads the share of each stage.
func (d *decoder) readPartitionList(v value) {
	if !v.ofLength(d.config.Stages, "stage share", "give one number of layers per stage") {
		return
	}
	stages := make([]StageLayers, d.config.Stages)
	for i := range stages {
		if !stages[i].read(v.item(i), d.config.Model) {
			return
		}
	}
	if d.layersAddUp(v, stages) && d.placeEnds(v, stages) && allHoldSomething(v, stages) && d.keepToParts(v, stages) {
		d.config.Partition.Stages = stages
	}
}

// read reads the share of one stage: a number of layers, embedding, head, or a list
// of these.
func (s *StageLayers) read(v value, model *Model) bool {
	if !v.listed() {
		return s.add(v, model)
	}
	items, _ := v.items("")
	if len(items) == 0 {
		v.fail("a stage without a share", "write how many layers it holds")
		return false
	}
	for _, item := range items {
		if !s.add(item, model) {
			return false
		}
	}
	return true
}

// add adds one entry to the share.
func (s *StageLayers) add(v value, model *Model) bool {
	text, _ := v.plain()
	var end *bool
	switch text {
	case embeddingEntry:
		end = &s.Embedding
	case headEntry:
		end = &s.Head
	default:
		layers, ok := v.whole(0, maxLayers)
		s.Layers += layers
		return ok
	}
	if model.Kind != GPT {
		v.fail("kind "+string(model.Kind)+" places its "+text+" by itself", "leave it out")
		return false
	}
	if model.VocabularySharding.Shared() {
		v.fail("all devices share the "+text+", which no stage of the partition holds", "leave it out")
		return false
	}
	if *end {
		v.fail(text+" twice in one stage", "list it once")
		return false
	}
	*end = true
	return true
}

// layersAddUp fails when the stages do not share out exactly the layers of the model.
func (d *decoder) layersAddUp(v value, stages []StageLayers) bool {
	sum, terms := 0, make([]string, len(stages))
	for i, stage := range stages {
		sum += stage.Layers
		terms[i] = strconv.Itoa(stage.Layers)
	}
	if sum == d.config.Model.Layers() {
		return true
	}
	if len(terms) > maxNamed {
		terms = append(terms[:maxNamed], "...")
	}
	v.fail(fmt.Sprintf("%s = %d layers, but the model has %d", strings.Join(terms, " + "), sum, d.config.Model.Layers()),
		"make the sum equal to the model's layers")
	return false
}

// placeEnds checks that embedding and head are listed at most once, before and after
// all layers, and gives them to the first and the last stage where they are not
// listed.
func (d *decoder) placeEnds(v value, stages []StageLayers) bool {
	if d.config.Model.Kind != GPT || d.config.Model.VocabularySharding.Shared() {
		return true
	}
	embedding, head := -1, -1
	firstLayer, lastLayer := len(stages), -1
	for i, stage := range stages {
		if stage.Embedding && embedding >= 0 || stage.Head && head >= 0 {
			v.item(i).fail("embedding or head is listed for an earlier stage already", "list it once")
			return false
		}
		if stage.Embedding {
			embedding = i
		}
		if stage.Head {
			head = i
		}
		if stage.Layers > 0 {
			firstLayer, lastLayer = min(firstLayer, i), i
		}
	}
	if embedding > firstLayer {
		v.item(embedding).fail(fmt.Sprintf("the embedding comes after the layers of stage %d", firstLayer), "list it before all layers")
		return false
	}
	if head >= 0 && head < lastLayer {
		v.item(head).fail(fmt.Sprintf("the head comes before the layers of stage %d", lastLayer), "list it after all layers")
		return false
	}
	if embedding < 0 {
		stages[0].Embedding = true
	}
	if head < 0 {
		stages[len(stages)-1].Head = true
	}
	return true
}

// allHoldSomething fails for a stage that no layer makes up.
func allHoldSomething(v value, stages []StageLayers) bool {
	for i, stage := range stages {
		if stage == (StageLayers{}) {
			v.item(i).fail(fmt.Sprintf("stage %d holds neither layers, embedding nor head", i), "give it a layer, or use fewer stages")
			return false
		}
	}
	return true
}

// keepToParts fails for a stage with layers of two parts of the network. The layers add
// up.
func (d *decoder) keepToParts(v value, stages []StageLayers) bool {
	stage := 0
	for _, part := range d.config.Model.Parts {
		left := part.Layers
		for ; left > 0; stage++ {
			left -= stages[stage].Layers
		}
		if left < 0 {
			v.item(stage-1).fail(fmt.Sprintf("stage %d holds the last %s of the %s and %d of the next part", stage-1,
				plural(stages[stage-1].Layers+left, "layer"), part.Role, -left), "end each part with a stage")
			return false
		}
	}
	return true
}

// readRecompute reads what each stage computes again. It defaults to none.
func (d *decoder) readRecompute() {
	if d.config.Model == nil {
		return
	}
	read := func(v value) (Recompute, bool) {
		return word(v, RecomputeNone, RecomputeSelective, RecomputeFull)
	}
	col, ok := perStage(d.root.get("recompute"), d.config.Stages, "stage recomputation", read)
	if !ok {
		return
	}
	d.config.Recompute = make([]Recompute, d.config.Stages)
	for stage, entry := range col.cells {
		d.config.Recompute[stage] = entry.or(RecomputeNone)
	}
}
