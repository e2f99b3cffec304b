"""What the peers share: reading an instance, facts that follow from it, a first
schedule, the test of a schedule, and the line that is printed.

README.md describes the format. Nothing here comes from FlexPipe's own bounds or
heuristics.
"""

import argparse
import bisect
import heapq
import json
import time


class Instance:
    """An instance in the form that the models need."""

    def __init__(self, data):
        if data["format"] != "flexpipe/instance" or data["version"] != 1:
            raise ValueError("not a flexpipe/instance of version 1")
        self.name = data["name"]
        operations = data["operations"]
        self.duration = [o["duration"] for o in operations]
        self.devices = [o["devices"] for o in operations]
        self.part = [(o["stage"], o["micro_batch"]) for o in operations]
        self.precedences = [tuple(p) for p in data["precedences"]]
        self.sequences = data["sequences"]
        self.memory = data["memory"]
        self.count = len(operations)
        self.on = [[] for _ in range(data["devices"])]
        for op, devices in enumerate(self.devices):
            for d in devices:
                self.on[d].append(op)
        self._edges()
        self._check_memory()

    def _edges(self):
        """Precedences and sequences as one graph: lists of (operation, lag)."""
        self.arcs = list(self.precedences)
        for sequence in self.sequences:
            self.arcs += [(a, b, 0) for a, b in zip(sequence, sequence[1:])]
        self.before = [[] for _ in range(self.count)]
        self.after = [[] for _ in range(self.count)]
        for a, b, lag in self.arcs:
            self.after[a].append((b, lag))
            self.before[b].append((a, lag))
        self.order = self._topological()

    def _topological(self):
        waits = [len(b) for b in self.before]
        order = [op for op in range(self.count) if waits[op] == 0]
        for op in order:
            for b, _ in self.after[op]:
                waits[b] -= 1
                if waits[b] == 0:
                    order.append(b)
        return order

    def _check_memory(self):
        """The models count memory where an operation starts."""
        for limit in self.memory:
            for op, _, at_end in limit["deltas"]:
                if at_end > 0:
                    raise ValueError("an operation that takes memory at its end is not supported")
                if self.duration[op] == 0:
                    raise ValueError("memory of an operation of length 0 is not supported")

    def heads(self):
        """Earliest start of each operation: the longest path to it."""
        head = [0] * self.count
        for op in self.order:
            for a, lag in self.before[op]:
                head[op] = max(head[op], head[a] + self.duration[a] + lag)
        return head

    def tails(self):
        """Least time from the end of each operation to the end of the schedule."""
        tail = [0] * self.count
        for op in reversed(self.order):
            for b, lag in self.after[op]:
                tail[op] = max(tail[op], lag + self.duration[b] + tail[b])
        return tail

    def simple_bound(self):
        """The longest path, or the work of a device with the way there and back."""
        head, tail = self.heads(), self.tails()
        bound = max(h + d + t for h, d, t in zip(head, self.duration, tail))
        for ops in self.on:
            if ops:
                work = sum(self.duration[op] for op in ops)
                bound = max(bound, min(head[op] for op in ops) + work + min(tail[op] for op in ops))
        return bound

    def held(self):
        """Memory as intervals: lists per limit of (from, to, amount), held from the
        start of one operation to the end of another. What a stage takes for a
        micro-batch is matched with what it gives back, first with first. What is
        never given back has no end: to is None."""
        result, place = [], {op: k for k, op in enumerate(self.order)}
        for limit in self.memory:
            takes, gives = {}, {}
            for op, at_start, at_end in sorted(limit["deltas"], key=lambda d: place[d[0]]):
                part = self.part[op]
                if at_start > 0:
                    takes.setdefault(part, []).append([op, at_start])
                if at_start < 0:
                    raise ValueError("an operation that gives back at its start is not supported")
                if at_end < 0:
                    gives.setdefault(part, []).append([op, -at_end])
            result.append([piece for part in takes for piece in match(takes[part], gives.get(part, []))])
        return result


def match(takes, gives):
    pieces, queue = [], [list(g) for g in gives]
    for op, amount in takes:
        while amount > 0:
            if not queue:
                pieces.append((op, None, amount))
                break
            part = min(amount, queue[0][1])
            pieces.append((op, queue[0][0], part))
            amount -= part
            queue[0][1] -= part
            if queue[0][1] == 0:
                queue.pop(0)
    return pieces


class Pairs:
    """The decisions of an instance: for two operations of one device, which comes
    first. `before(a, b)` is True or False where precedences, sequences or the
    horizon decide, else None. `open` lists the pairs (a, b) that are left, `forced`
    those in which the horizon alone puts a before b."""

    def __init__(self, inst, horizon):
        self.inst, self.head, tail = inst, inst.heads(), inst.tails()
        self.latest = [horizon - t - d for t, d in zip(tail, inst.duration)]
        self.reach = [0] * inst.count
        for op in reversed(inst.order):
            for b, _ in inst.after[op]:
                self.reach[op] |= self.reach[b] | 1 << b
        self.open, self.forced = [], []
        for a, b in sorted({(a, b) for ops in inst.on for i, a in enumerate(ops) for b in ops[i + 1:]}):
            decided = self.before(a, b)
            if decided is None:
                self.open.append((a, b))
            elif not self.linked(a, b):
                self.forced.append((a, b) if decided else (b, a))

    def linked(self, a, b):
        return (self.reach[a] >> b | self.reach[b] >> a) & 1

    def before(self, a, b):
        if self.reach[a] >> b & 1:
            return True
        if self.reach[b] >> a & 1:
            return False
        if self.head[b] + self.inst.duration[b] > self.latest[a]:
            return True
        if self.head[a] + self.inst.duration[a] > self.latest[b]:
            return False
        return None

    def monotone(self):
        """Pairs of pairs ((a, b), (c, d)): if a is before b, c is before d."""
        of = {op: s for s, sequence in enumerate(self.inst.sequences) for op in sequence}
        place = {op: k for sequence in self.inst.sequences for k, op in enumerate(sequence)}
        for a, b in self.open:
            later = self.inst.sequences[of[b]][place[b] + 1:place[b] + 2]
            earlier = self.inst.sequences[of[a]][:place[a]][-1:]
            for c, d in [(a, x) for x in later] + [(x, b) for x in earlier]:
                if self.before(c, d) is None:
                    yield (a, b), (c, d)


def first_schedule(inst):
    """The starts of a legal schedule, None if none was found: list scheduling that
    keeps at most k micro-batches in flight, for the best k, with what nothing waits
    for first or last, whichever is better."""
    best = None
    for k in range(1, 1 + min(2 * len(inst.on), len({m for _, m in inst.part}))):
        for leaves_last in (False, True):
            starts = ListScheduler(inst, k, leaves_last).run()
            if starts and (best is None or makespan(inst, starts) < makespan(inst, best)):
                best = starts
    return best


class ListScheduler:
    """At every moment each free device starts the first operation that is ready and
    fits: those that take no memory first, then early micro-batches, then the
    longest way to the end. Leaves are operations for which nothing but their
    sequence waits."""

    def __init__(self, inst, k, leaves_last):
        self.inst, self.k = inst, k
        self.limits, self.deltas = memory_by_device(inst)
        tail = inst.tails()
        inner = {a for a, _, _ in inst.precedences}
        self.rank = [
            (2 if leaves_last and op not in inner else int(self.takes(op)), inst.part[op][1], -tail[op], op)
            for op in range(inst.count)
        ]
        self.used, self.free = [0] * len(inst.on), [0] * len(inst.on)
        self.left = {}
        for _, m in inst.part:
            self.left[m] = self.left.get(m, 0) + 1
        self.flying = set()
        self.waits = [len(b) for b in inst.before]
        self.ready = sorted((self.rank[op], 0) for op in range(inst.count) if not inst.before[op])
        self.running, self.starts = [], [None] * inst.count

    def takes(self, op):
        return any(self.deltas[d].get(op, (0, 0))[0] > 0 for d in self.inst.devices[op])

    def run(self):
        """The starts, None if memory or the number in flight blocks all that is left."""
        now = 0
        while True:
            for entry in list(self.ready):
                self.offer(entry, now)
            later = [t for _, t in self.ready if t > now] + [t for t, _ in self.running[:1]]
            if not later:
                return self.starts if not self.ready else None
            now = min(later)
            while self.running and self.running[0][0] <= now:
                self.finish(heapq.heappop(self.running)[1])

    def offer(self, entry, now):
        (*_, op), time = entry
        devices, m = self.inst.devices[op], self.inst.part[op][1]
        if time > now or any(self.free[d] > now for d in devices):
            return
        if m not in self.flying and len(self.flying) >= self.k:
            return
        if any(self.used[d] + self.deltas[d].get(op, (0, 0))[0] > self.limits[d] for d in devices):
            return
        for d in devices:
            self.used[d] += self.deltas[d].get(op, (0, 0))[0]
            self.free[d] = now + self.inst.duration[op]
        self.flying.add(m)
        self.starts[op] = now
        self.ready.remove(entry)
        heapq.heappush(self.running, (now + self.inst.duration[op], op))

    def finish(self, op):
        inst, m = self.inst, self.inst.part[op][1]
        for d in inst.devices[op]:
            self.used[d] += self.deltas[d].get(op, (0, 0))[1]
        self.left[m] -= 1
        if self.left[m] == 0:
            self.flying.discard(m)
        for b, _ in inst.after[op]:
            self.waits[b] -= 1
            if self.waits[b] == 0:
                time = max(self.starts[a] + inst.duration[a] + lag for a, lag in inst.before[b])
                bisect.insort(self.ready, (self.rank[b], time))


def memory_by_device(inst):
    limits = [float("inf")] * len(inst.on)
    deltas = [{} for _ in inst.on]
    for limit in inst.memory:
        limits[limit["device"]] = limit["limit"]
        deltas[limit["device"]] = {op: (s, e) for op, s, e in limit["deltas"]}
    return limits, deltas


def makespan(inst, starts):
    return max(s + d for s, d in zip(starts, inst.duration)) - min(starts)


def check(inst, starts):
    """Raises ValueError for a schedule that breaks a rule."""
    for a, b, lag in inst.precedences:
        if starts[b] < starts[a] + inst.duration[a] + lag:
            raise ValueError(f"operation {b} starts before {a} allows")
    limits, deltas = memory_by_device(inst)
    for d, ops in enumerate(inst.on):
        held, end = 0, 0
        for op in sorted(ops, key=lambda o: (starts[o], inst.duration[o])):
            if starts[op] < end:
                raise ValueError(f"device {d} runs two operations at {starts[op]}")
            end = starts[op] + inst.duration[op]
            at_start, at_end = deltas[d].get(op, (0, 0))
            if held + at_start > limits[d]:
                raise ValueError(f"device {d} holds {held + at_start} at {starts[op]}")
            held += at_start + at_end


def run(engine, version, solve):
    """The program of a peer: reads, solves, checks, prints one line of JSON.

    solve(inst, deadline, workers, first) returns (starts or None, bound, proved);
    first is a legal schedule, or None."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--time-limit", type=float, default=60)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    begin = time.monotonic()
    with open(args.file) as f:
        inst = Instance(json.load(f))
    first = first_schedule(inst)
    starts, bound, proved = solve(inst, begin + args.time_limit, args.workers, first)
    seconds = time.monotonic() - begin
    for plan in (starts, first):
        if plan is not None:
            check(inst, plan)
    if first is not None and (starts is None or makespan(inst, first) < makespan(inst, starts)):
        starts = first
    print(json.dumps(outcome(inst, engine, version, starts, bound, proved, seconds)))


def outcome(inst, engine, version, starts, bound, proved, seconds):
    value = None if starts is None else makespan(inst, starts)
    if value is not None and bound is not None and bound > value:
        raise ValueError(f"the bound {bound} is above the value {value}")
    status = "unknown"
    if value is not None:
        status = "optimal" if bound == value else "feasible"
    elif proved:
        status = "infeasible"
    return {
        "engine": engine, "instance": inst.name, "status": status, "value": value, "bound": bound,
        "seconds": round(seconds, 3), "version": version, "starts": starts,
    }
