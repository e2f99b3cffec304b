package config

import "slices"

// Model describes a network whose costs and memory are worked out layer by layer.
type Model struct {
	Kind           ModelKind
	MicroBatchSize int // samples in a micro-batch, at least 1
	DType          DType
	// Parts are the runs of equal layers that make up the network, in the order of
	// their data flow: one for gpt and mlp; encoder, decoder; the two branches, then
	// the joint part if there is one.
	Parts []Part
	Loss  Loss // set for two-branch, else empty
	// VocabularySharding says where embeddings and heads are computed; VocabularyNone
	// without a vocabulary.
	VocabularySharding VocabularySharding
}

// HasVocabulary reports whether a part of the network has an embedding or a head.
func (m *Model) HasVocabulary() bool {
	return slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Vocabulary > 0 })
}

// Layers returns the number of layers over all parts, embeddings and heads not counted.
func (m *Model) Layers() int {
	sum := 0
	for _, part := range m.Parts {
		sum += part.Layers
	}
	return sum
}

// Part is a run of equal layers.
type Part struct {
	Role     Role
	Kind     ModelKind // GPT (a transformer) or MLP
	Layers   int
	Hidden   int // width of a layer's input and output
	Heads    int // attention heads, a divisor of Hidden; 0 for an mlp
	Sequence int // positions per sample, 1 for an mlp unless given
	// Vocabulary is the number of tokens; 0 for a part without embedding and head. A
	// body and a decoder have both, an encoder and a branch an embedding, a joint part
	// a head.
	Vocabulary    int
	FeedForward   int  // inner width of a layer's feed-forward block; 4·Hidden unless given
	TiedEmbedding bool // embedding and head share their weights
}

// ModelKind names a family of networks.
type ModelKind string

// The kinds of networks.
const (
	GPT            ModelKind = "gpt"             // transformer layers between an embedding and a head
	MLP            ModelKind = "mlp"             // feed-forward layers only
	EncoderDecoder ModelKind = "encoder-decoder" // the decoder attends to the encoder's output
	TwoBranch      ModelKind = "two-branch"      // two networks side by side that meet in a loss
)

// Role is the place of a part in its network.
type Role string

// The roles of parts.
const (
	Body    Role = "body" // the only part of a gpt or an mlp
	Encoder Role = "encoder"
	Decoder Role = "decoder"
	Branch  Role = "branch"
	Joint   Role = "joint" // consumes both branches
)

// VocabularySharding says where the layers over a vocabulary are computed.
type VocabularySharding string

// The ways to place embedding and head.
const (
	VocabularyNone  VocabularySharding = "none"  // whole, as layers of the first and the last stage
	VocabularyStage VocabularySharding = "stage" // each a stage of its own, shared by all devices
	// VocabularyPasses runs the shares of all devices as operations of their own, with
	// collectives between them, beside the stages; for a gpt.
	VocabularyPasses VocabularySharding = "passes"
)

// Shared reports whether all devices share embedding and head, which then are layers of
// no stage that a partition fills.
func (s VocabularySharding) Shared() bool { return s == VocabularyStage || s == VocabularyPasses }

// Loss names what joins the branches of a two-branch network.
type Loss string

// Contrastive is the only loss so far.
const Contrastive Loss = "contrastive"

// DType is the type of weights and activations.
type DType string

// The data types.
const (
	BF16 DType = "bf16"
	FP16 DType = "fp16"
	FP32 DType = "fp32"
)

// Bytes returns the size of one element.
func (t DType) Bytes() int {
	if t == FP32 {
		return 4
	}
	return 2
}

// Cluster is the hardware under a model. Rates are per device.
type Cluster struct {
	FLOPS          Decimal // peak floating-point operations per second, positive
	Efficiency     Decimal // share of FLOPS that is reached, in (0, 1]
	LinkBandwidth  Decimal // bytes per second between devices of one node, positive; 0 if size does not matter, which a profile may say
	LinkLatency    Decimal // start-up of a transfer, in Config.Unit
	DevicesPerNode int     // 0 when all devices share one node
	NodeBandwidth  Decimal // bytes per second between nodes; LinkBandwidth unless given
}

// Partition says which layers of the model make up each stage.
type Partition struct {
	Rule PartitionRule
	// Stages holds the share of each stage when Rule is PartitionListed, else nil.
	// The layers sum to Model.Layers(), and no stage has layers of two parts. Vocabulary
	// layers that all devices share are stages of their own, beside these.
	Stages []StageLayers
}

// PartitionRule names how layers are divided among stages.
type PartitionRule string

// The partition rules.
const (
	Balanced        PartitionRule = "balanced" // as equal in time as layers allow
	Even            PartitionRule = "even"     // as equal in number as layers allow
	PartitionListed PartitionRule = "list"     // as the document lists
)

// StageLayers is the share of one stage.
type StageLayers struct {
	Layers    int
	Embedding bool // holds the input embedding
	Head      bool // holds the output head
}

// Recompute says which activations a stage computes again in its backward.
type Recompute string

// The kinds of recomputation.
const (
	RecomputeNone      Recompute = "none"      // nothing: all activations stay in memory
	RecomputeSelective Recompute = "selective" // the attention core
	RecomputeFull      Recompute = "full"      // everything but the stage's input
)
