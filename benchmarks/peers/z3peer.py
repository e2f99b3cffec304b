"""Z3: difference logic over the starts, a Boolean for each open pair of a device,
memory by counting what is before each operation that takes some.

Two workers share the interval of the makespan: one looks for a shorter schedule
than the best so far, the other halves the interval. One worker alone halves it.
"""

import os
import sys
import threading
import time

import z3

import instance


class Interval:
    """What all workers know: the makespan is in [low, high]."""

    def __init__(self, low, high, starts):
        self.lock = threading.Lock()
        self.low, self.high, self.starts, self.fault = low, high, starts, None

    def refuted(self, value):
        with self.lock:
            self.low = max(self.low, value + 1)

    def found(self, starts, value):
        with self.lock:
            if value < self.high or self.starts is None:
                self.high, self.starts = value, starts

    def closed(self):
        return self.low > self.high or self.starts is not None and self.low == self.high


class Model:
    """The instance in a context of its own. The makespan is bounded by assumption."""

    def __init__(self, inst, pairs):
        self.inst, self.context = inst, z3.Context()
        self.solver = z3.SimpleSolver(ctx=self.context)
        self.start = [z3.Int(f"s{op}", self.context) for op in range(inst.count)]
        self.end = z3.Int("end", self.context)
        self.zero = z3.Int("zero", self.context)
        self.pairs = pairs
        self.first = {(a, b): z3.Bool(f"b{a},{b}", self.context) for a, b in pairs.open}
        self.limits = {}

    def build(self):
        inst, add, start = self.inst, self.solver.add, self.start
        for op in range(inst.count):
            if not inst.before[op]:
                add(start[op] - self.zero >= 0)
            if not inst.after[op]:
                add(self.end - start[op] >= inst.duration[op])
        for a, b, lag in inst.arcs:
            add(start[b] - start[a] >= inst.duration[a] + lag)
        for a, b in self.pairs.forced:
            add(start[b] - start[a] >= inst.duration[a])
        for (a, b), x in self.first.items():
            add(z3.Implies(x, start[b] - start[a] >= inst.duration[a]))
            add(z3.Or(x, start[a] - start[b] >= inst.duration[b]))
        for p, q in self.pairs.monotone():
            add(z3.Implies(self.literal(*p), self.literal(*q)))
        for limit in inst.memory:
            self.add_memory(limit)

    def literal(self, a, b):
        """True, False, or the Boolean that says that a is before b."""
        decided = self.pairs.before(a, b)
        if decided is not None:
            return decided
        return self.first[a, b] if (a, b) in self.first else z3.Not(self.first[b, a])

    def add_memory(self, limit):
        for op, at_start, _ in limit["deltas"]:
            if at_start <= 0:
                continue
            room, terms = limit["limit"] - at_start, []
            for q, takes, gives in limit["deltas"]:
                net = takes + gives
                if q == op or net == 0:
                    continue
                x = self.literal(q, op)
                if x is True:
                    room -= net
                elif x is not False and net > 0:
                    terms.append((x, net))
                elif x is not False:
                    room -= net
                    terms.append((z3.Not(x), -net))
            if sum(w for _, w in terms) > room:
                self.solver.add(z3.PbLe(terms, room) if room >= 0 else z3.BoolVal(False, self.context))

    def within(self, value):
        """The assumption that the makespan is at most value."""
        if value not in self.limits:
            self.limits[value] = z3.Bool(f"within{value}", self.context)
            self.solver.add(z3.Implies(self.limits[value], self.end - self.zero <= value))
        return self.limits[value]

    def starts(self):
        found = self.solver.model()
        zero = found.eval(self.zero, model_completion=True).as_long()
        return [found.eval(s, model_completion=True).as_long() - zero for s in self.start]


def search(model, interval, halve, deadline):
    while not interval.closed() and time.monotonic() < deadline:
        low, high = interval.low, interval.high
        value = (low + high) // 2 if halve else high - 1
        if interval.starts is None and not halve:
            value = high
        model.solver.set("timeout", max(1, int(1000 * (deadline - time.monotonic()))))
        answer = model.solver.check(model.within(value))
        if answer == z3.sat:
            starts = model.starts()
            interval.found(starts, instance.makespan(model.inst, starts))
        elif answer == z3.unsat:
            interval.refuted(value)


def work(model, interval, halve, deadline):
    try:
        model.build()
        search(model, interval, halve, deadline)
    except Exception as fault:
        interval.fault = fault


def solve(inst, deadline, workers, first):
    high = instance.makespan(inst, first) if first else sum(inst.duration) + sum(lag for _, _, lag in inst.precedences)
    interval = Interval(inst.simple_bound(), high, first)
    pairs = instance.Pairs(inst, high)
    models = [Model(inst, pairs) for _ in range(min(2, workers))]
    threads = [
        threading.Thread(target=work, args=(model, interval, k == 0, deadline), daemon=True)
        for k, model in enumerate(models)
    ]
    for t in threads:
        t.start()
    for t in threads:
        while t.is_alive() and not interval.closed() and time.monotonic() < deadline + 1:
            t.join(0.05)
    if interval.fault:
        raise interval.fault
    if interval.low > interval.high:
        if interval.starts is not None:
            raise ValueError("z3 refutes a makespan of which there is a schedule")
        return None, None, True
    return interval.starts, interval.low, interval.low == interval.high


if __name__ == "__main__":
    z3.set_param("smt.arith.solver", 1)  # difference logic
    instance.run("z3", "z3 " + z3.get_version_string(), solve)
    sys.stdout.flush()
    os._exit(0)  # a thread may still be searching
