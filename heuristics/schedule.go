package heuristics

import "github.com/flexpipe/flexpipe/model"

// Schedule is a named schedule of the literature: a fixed recipe for the order
// of the operations on each device.
//
// The orders depend on the shape alone (devices, stages and micro-batches), but
// for zbv, v-half and v-min. These fix the forward and backward input passes in the same way, and place the
// weight gradients by the costs, within the memory limits if these suffice for
// the hand-made place. None of them is optimal beyond the costs that its paper
// assumes.
type Schedule struct {
	Name      string
	Title     string
	Paper     string     // authors, title, year, where
	Placement string     // linear, loop or v
	Shapes    string     // the legal shapes in words
	Makespan  string     // closed form for F = I = W = 1, B = 2, no latency
	Peak      string     // largest number of live stage activations on device d
	Backward  model.Mode // how the stages with both halves of a backward should be compiled

	// Bidirectional says that micro-batches take two routes: one as in Placement,
	// and one through a second copy of the stages that meets the devices in
	// reverse.
	Bidirectional bool

	chunks int  // stages per device; 0 for any number
	even   bool // with chunks 0: any even number
	weighs bool // looks at costs, which takes much longer than to list an order
	build  func(*chain) (*model.Plan, error)
}

// The papers that describe more than one schedule.
const (
	zeroBubblePaper   = "Qi, Wan, Huang, Lin: Zero Bubble Pipeline Parallelism, ICLR 2024, arXiv:2401.10241"
	controllablePaper = "Qi, Wan, Amar, Lin: Pipeline Parallelism with Controllable Memory, NeurIPS 2024, arXiv:2405.15362"
)

// Schedules returns the named schedules, always in the same order. P is the
// number of devices, M that of micro-batches, v that of stages per device. The
// caller owns the slice.
func Schedules() []Schedule {
	return []Schedule{
		{
			Name: "gpipe", Title: "GPipe",
			Paper:     "Huang et al.: GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism, NeurIPS 2019, arXiv:1811.06965",
			Placement: "linear", Shapes: "one stage per device, any M",
			Makespan: "3(M+P-1)", Peak: "M",
			Backward: model.Fused, chunks: 1, build: listed(gpipe),
		},
		{
			Name: "1f1b", Title: "One forward, one backward (PipeDream-Flush)",
			Paper:     "Narayanan et al.: Memory-Efficient Pipeline-Parallel DNN Training, ICML 2021, arXiv:2006.09503",
			Placement: "linear", Shapes: "one stage per device, any M",
			Makespan: "3(M+P-1)", Peak: "min(P-d, M)",
			Backward: model.Fused, chunks: 1, build: listed(oneForwardOneBackward),
		},
		{
			Name: "interleaved", Title: "Interleaved 1F1B",
			Paper:     "Narayanan et al.: Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, SC 2021, arXiv:2104.04473, section 2.2",
			Placement: "loop", Shapes: "v stages per device, any M; R micro-batches per round, R = P where M is a multiple of P",
			Makespan: "3(Mv+P-1) from M = P up", Peak: "min(2(P-1-d)+(v-1)R+1, Mv)",
			Backward: model.Fused, build: listed(interleaved),
		},
		{
			Name: "looped-bfs", Title: "Looped breadth-first",
			Paper:     "Lamy-Poirier: Breadth-First Pipeline Parallelism, MLSys 2023, arXiv:2211.05953",
			Placement: "loop", Shapes: "v stages per device, any M; backward from the last micro-batch to the first",
			Makespan: "3(Mv+P-1) from M = P up", Peak: "Mv",
			Backward: model.Fused, build: listed(loopedBreadthFirst),
		},
		{
			Name: "zb-h1", Title: "Zero bubble, hand-made, memory of 1F1B (ZB-H1)",
			Paper:     zeroBubblePaper + ", section 2.1",
			Placement: "linear", Shapes: "one stage per device, any M",
			Makespan: "3M+P-1 from M = P up", Peak: "min(P, M)",
			Backward: model.Split, chunks: 1, build: listed(zeroBubbleH1),
		},
		{
			Name: "zb-h2", Title: "Zero bubble, hand-made, twice the memory of 1F1B (ZB-H2)",
			Paper:     zeroBubblePaper + ", section 2.2",
			Placement: "linear", Shapes: "one stage per device, any M",
			Makespan: "3M+P-1 (span 3M) from M = 2P-1 up", Peak: "min(2P-1, M)",
			Backward: model.Split, chunks: 1, build: listed(zeroBubbleH2),
		},
		{
			Name: "zbv", Title: "Zero bubble on a V (ZB-V)",
			Paper:     zeroBubblePaper + ", section 6",
			Placement: "v", Shapes: "two stages per device, any M",
			Makespan: "6M+P-1 (span 6M) from M = 2P-1 up", Peak: "2P",
			Backward: model.Split, chunks: 2, weighs: true, build: zeroBubbleV,
		},
		{
			Name: "v-half", Title: "Half the memory of 1F1B on a V (V-Half)",
			Paper:     controllablePaper,
			Placement: "v", Shapes: "two stages per device, any M",
			Makespan: "6M+6⌈P/2⌉-7 for P > 2 from M = 2P up", Peak: "2⌊(P+2)/2⌋",
			Backward: model.Split, chunks: 2, weighs: true, build: vHalf,
		},
		{
			Name: "v-min", Title: "A third of the memory of 1F1B on a V (V-Min)",
			Paper:     controllablePaper,
			Placement: "v", Shapes: "two stages per device, any M",
			Makespan: "6M+3P+3⌈P/3⌉-7 for P > 2 from M = 2P up", Peak: "2⌊(P+4)/3⌋",
			Backward: model.Split, chunks: 2, weighs: true, build: vMin,
		},
		{
			Name: "hanayo", Title: "Waves over the devices (Hanayo)",
			Paper:     "Liu, Cheng, Zhou, You: Hanayo: Harnessing Wave-like Pipeline Parallelism for Enhanced Large Model Training Efficiency, SC 2023, arXiv:2308.15762; the order is our reading of it",
			Placement: "v", Shapes: "an even number v of stages per device, v/2 waves, any M",
			Makespan: "3Mv+2(P-1)(M/P+1) for M a multiple of P", Peak: "P(v-1)+1+d for M a multiple of P",
			Backward: model.Fused, even: true, build: listed(hanayo),
		},
		{
			Name: "chimera", Title: "Two directions at once, rounds of P micro-batches (Chimera)",
			Paper:     "Li, Hoefler: Chimera: Efficiently Training Large-Scale Neural Networks with Bidirectional Pipelines, SC 2021, arXiv:2107.06925, sections 3.1 and 3.5",
			Placement: "linear", Shapes: "two stages per device, one of each direction, P even, any M; half of the micro-batches go down and half up",
			Makespan: "(4P-2)M/P+P-2 for M a multiple of P", Peak: "P/2+1+min(d, P-1-d) for M a multiple of P",
			Backward: model.Fused, Bidirectional: true, chunks: 1, build: listed(chimera),
		},
		{
			Name: "dualpipev", Title: "DualPipe cut in half and folded into a V (DualPipeV)",
			Paper:     "DeepSeek-AI: DeepSeek-V3 Technical Report, 2024, arXiv:2412.19437, section 3.2.1, and its DualPipe repository",
			Placement: "v", Shapes: "two stages per device, M >= 2P",
			Makespan: "6M+P-1; 6M+2(P-1) where the two halves of a pair start and end together", Peak: "2P+1",
			Backward: model.Auto, chunks: 2, build: dualPipeV,
		},
	}
}

// Build returns the plan of the schedule for p, with every operation that p has.
// The plan may exceed memory limits. Where p leaves the choice, it takes the full
// backward passes that the schedule names, and the halves. Where p has the halves
// only, a schedule that names full backward passes runs the two one right after
// the other.
//
// Cost O(operations) time and memory; zbv, v-half and v-min take up to some
// hundred times longer, growing with the square of the devices. Error: a
// *ShapeError where the stages of p lie in another way than the schedule needs.
func (s Schedule) Build(p *model.Problem) (*model.Plan, error) {
	c, err := newChain(s, p)
	if err != nil {
		return nil, err
	}
	return s.build(c)
}

// listed makes a builder of a function that lists the operations of a rank.
func listed(list func(c *chain, rank int, o *deviceOrder)) func(*chain) (*model.Plan, error) {
	return func(c *chain) (*model.Plan, error) {
		return c.plan(func(rank int, o *deviceOrder) { list(c, rank, o) }), nil
	}
}
