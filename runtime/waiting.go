package runtime

// post puts a message into its slot, and rouses the receiver if it waits for it. It fails
// for a message that had been sent before.
func (r *run) post(a *actor, message int32, payload any) bool {
	s := &r.slots[message]
	if s.state.Load() != empty {
		f := r.faultAt(a, Duplicate, nil)
		f.doing += ", which had been sent before"
		r.fail(f)
		return false
	}
	s.payload, s.step = payload, a.step.Load()
	s.state.Store(arrived)
	to := &r.actors[r.program.Messages[message].To]
	if to.awaits.Load() != message {
		return true
	}
	r.mu.Lock()
	roused := to.awaits.Load() == message
	if roused {
		to.awaits.Store(nothing)
		r.idle--
	}
	r.mu.Unlock()
	if roused {
		to.rouse()
	}
	return true
}

// lose marks a message as sent that will not arrive.
func (r *run) lose(a *actor, message int32) {
	s := &r.slots[message]
	s.step = a.step.Load()
	s.state.Store(sent)
}

// awaitMessage sleeps until a message has arrived. It returns false if the run was stopped.
func (r *run) awaitMessage(a *actor, message int32, now int64) bool {
	r.mu.Lock()
	a.since.Store(now)
	a.awaits.Store(message)
	if r.slots[message].state.Load() == arrived {
		a.awaits.Store(nothing)
		r.mu.Unlock()
		return true
	}
	return r.sleep(a)
}

// meet waits until all members of a gang have come to the start of its operation, or to its
// end. The last one to come stamps the time. It returns false if the run was stopped.
func (r *run) meet(a *actor, index int32, end bool, now int64) bool {
	g := &r.gangs[index]
	r.mu.Lock()
	count, awaited := &g.came, awaitStart(index)
	if end {
		count, awaited = &g.done, awaitEnd(index)
	}
	*count++
	if *count < len(g.members) {
		a.since.Store(now)
		a.awaits.Store(awaited)
		return r.sleep(a)
	}
	if end {
		r.record.End[g.op] = r.now()
	} else {
		r.record.Start[g.op] = r.now()
	}
	for _, m := range g.members {
		if other := &r.actors[m]; other != a {
			other.awaits.Store(nothing)
			r.idle--
			other.rouse()
		}
	}
	r.mu.Unlock()
	return true
}

// sleep counts an actor among the idle ones and waits until it is roused. It is called with
// the mutex held, and gives it up. It returns false if the run was stopped.
func (r *run) sleep(a *actor) bool {
	a.activity.Store(uint32(Waits))
	r.idle++
	r.checkDeadlock()
	stopped := r.stopped.Load()
	r.mu.Unlock()
	if stopped {
		return false
	}
	<-a.wake
	if r.stopped.Load() {
		return false
	}
	a.activity.Store(uint32(Working))
	return true
}

// finish counts an actor that has run its last instruction.
func (r *run) finish() {
	r.mu.Lock()
	r.finished++
	r.checkDeadlock()
	r.mu.Unlock()
}

// checkDeadlock ends the run if nobody is left who could rouse those that wait.
func (r *run) checkDeadlock() {
	if r.idle > 0 && r.idle+r.finished == len(r.actors) && !r.stopped.Load() {
		r.failLocked(r.deadlock())
	}
}

// leave is the last thing that the goroutine of an actor does.
func (r *run) leave() {
	r.mu.Lock()
	r.left--
	if r.left == 0 {
		close(r.done)
	}
	r.mu.Unlock()
}
