package lower

import (
	"fmt"

	"github.com/flexpipe/flexpipe/model"
)

// pass is one step of the lowering. Each adds to the state; its check reads what it added
// and finds what would be a mistake of the pass, or of one before it.
type pass struct {
	name  string
	run   func(*lowering) error
	check func(*lowering) error
}

// passes lists all of them, in the order in which they run.
var passes = []pass{
	{"complete", (*lowering).complete, (*lowering).checkComplete}, // the plan holds what the problem asks for
	{"order", (*lowering).sort, (*lowering).checkOrder},           // one order of all operations
	{"messages", (*lowering).connect, (*lowering).checkMessages},  // who tells whom
	{"sends", (*lowering).send, (*lowering).checkSends},           // when each message leaves
	{"receives", (*lowering).receive, (*lowering).checkReceives},  // when each is waited for
	{"emit", (*lowering).emit, (*lowering).checkPrograms},         // the instructions, with memory
}

// Lower turns a plan into programs. The programs are safe under the channel models
// [Buffered] and [InOrder]: everything that is done stands in an order of all operations
// in which each message is sent before it is received.
//
// A message goes from the first device of its producer to each device of its consumer that
// is not among the producer's. It leaves directly behind its producer. It is received
// directly before its consumer, or earlier if the same device receives from the same sender
// something that was sent later and is needed earlier: messages between two devices do not
// overtake each other.
//
// What travels by a blocking transfer is a message from the operation that really produces
// to the one that really consumes; its Send and its Receive stand directly before the
// Compute of the transfer, which occupies sender and receiver for as long as it takes.
//
// Cost O(operations + precedences) beside O(operations · log devices) for the order.
// Errors: those of [model.Evaluate] for a plan that cannot run; *[model.PlanError] for one
// that lacks an operation, or holds both cases of a choice. Lower tests no memory limits:
// that is the judge's work.
func Lower(p *model.Problem, plan *model.Plan) (*Program, error) {
	l := &lowering{p: p, plan: plan}
	for i := range passes {
		if err := passes[i].run(l); err != nil {
			return nil, err
		}
		if err := passes[i].check(l); err != nil {
			return nil, fmt.Errorf("lowering, pass %s: %w", passes[i].name, err)
		}
	}
	return &Program{Problem: p, Plan: plan, Devices: l.devices, Messages: l.messages}, nil
}

// lowering is what the passes know; each names the fields that it fills.
type lowering struct {
	p    *model.Problem
	plan *model.Plan

	// complete
	present  model.OpSet // operations that the plan holds
	timeline *model.Timeline
	cargo    [][]Carries                 // by row, parallel to its predecessors
	waits    map[model.OpID][]model.OpID // by operation: what it also waits for, as the plan says

	// order
	order []model.OpID // all operations, each behind everything that it waits for
	rank  []int32      // by operation: its index in order, -1 if the plan does not hold it

	// messages
	messages []Message
	via      []model.OpID // by message: the blocking transfer that it travels by, -1 if none; nil: none does

	// sends
	sent []int32 // messages in the order in which they leave, one order for all senders

	// receives
	slot     []int32 // by message: the rank of the operation before which it is received
	received []int32 // messages by slot, in each in the order in which they leave

	// emit
	devices [][]Instr
}

// sendKey says when a message leaves: 2·rank before the operation of that rank starts,
// 2·rank+1 after it has ended.
func (l *lowering) sendKey(m int32) int32 {
	if l.via != nil && l.via[m] >= 0 {
		return 2 * l.rank[l.via[m]]
	}
	return 2*l.rank[l.messages[m].Producer] + 1
}

// needed returns the rank of the operation before which a message must be there.
func (l *lowering) needed(m int32) int32 {
	if l.via != nil && l.via[m] >= 0 {
		return l.rank[l.via[m]]
	}
	return l.rank[l.messages[m].Consumer]
}
