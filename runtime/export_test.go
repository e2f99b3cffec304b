package runtime

// Deliver makes messages of an engine arrive as often as f says: 0 loses one, 2 repeats it.
func (e *Engine) Deliver(f func(message int32) int) { e.run.deliver = f }

// MeasuresThreads says whether preemption is measured here.
const MeasuresThreads = measuresThreads
