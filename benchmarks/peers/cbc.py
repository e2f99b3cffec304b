"""CBC through PuLP: starts, a binary for each open pair of a device with the
smallest big-M, and the work before and after an operation in terms of these
binaries. Memory is linear in them."""

import math
import os
import re
import subprocess
import tempfile
import time

import pulp

import instance


def solve(inst, deadline, workers, first):
    horizon = instance.makespan(inst, first) if first else sum(inst.duration) + sum(lag for _, _, lag in inst.precedences)
    problem = build(inst, horizon)
    with tempfile.TemporaryDirectory() as folder:
        model, solution = os.path.join(folder, "model.mps"), os.path.join(folder, "solution")
        problem.writeMPS(model)
        log = call(model, solution, deadline - time.monotonic(), workers)
        return read(inst, solution, log)


def call(model, solution, seconds, workers):
    """Runs CBC and returns its log. CBC does not look at the clock in all it does,
    so it is killed when it is late."""
    if seconds <= 0:
        return ""
    command = [
        pulp.PULP_CBC_CMD().path, model, "-sec", f"{seconds:.2f}", "-timeMode", "elapsed", "-threads", str(workers),
        "-ratio", "0", "-allow", "0.999", "-branch", "-solution", solution, "-quit",
    ]
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=seconds + 5, check=True).stdout
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode()


def read(inst, solution, log):
    """CBC's status at a time limit is no proof, so the log decides."""
    bound = inst.simple_bound()
    if "Result - Problem proven infeasible" in log:
        return None, None, True
    proved = "Result - Optimal solution found" in log
    found = [float(b) for b in re.findall(r"^Lower bound:\s+(\S+)", log, re.M)]
    if found:
        bound = max(bound, math.ceil(found[-1] - 1e-4))
    value = starts_in(solution)
    if value is None:
        return None, bound, False
    starts = whole(inst, [value.get(f"s{op}", 0) for op in range(inst.count)])
    if proved:
        bound = instance.makespan(inst, starts)
    return starts, bound, proved


def starts_in(solution):
    """The values by name, None if the file has no schedule. CBC leaves out zeros."""
    if not os.path.exists(solution):
        return None
    with open(solution) as f:
        status, *lines = f.read().splitlines()
    if "nfeasible" in status or "no integer solution" in status or not lines or any(l.startswith("**") for l in lines):
        return None
    return {name: float(value) for _, name, value, *_ in map(str.split, lines)}


def whole(inst, value):
    """The earliest schedule with the orders of the solution: rounding starts is
    not enough where the tolerances of CBC add up."""
    arcs = list(inst.arcs)
    for ops in inst.on:
        order = sorted(ops, key=lambda op: (value[op] + inst.duration[op] / 2, op))
        arcs += [(a, b, 0) for a, b in zip(order, order[1:])]
    starts = [0] * inst.count
    for _ in range(inst.count):
        changed = False
        for a, b, lag in arcs:
            if starts[a] + inst.duration[a] + lag > starts[b]:
                starts[b] = starts[a] + inst.duration[a] + lag
                changed = True
        if not changed:
            return starts
    raise ValueError("the orders of the solution contradict each other")


class Order:
    """The decision whether one operation is before another: a constant, or linear
    in a binary."""

    def __init__(self, pairs):
        self.pairs = pairs
        self.binary = {p: pulp.LpVariable(f"x{p[0]}_{p[1]}", cat="Binary") for p in pairs.open}

    def before(self, a, b):
        """(constant, coefficient, binary): what is 1 if a is before b, else 0."""
        decided = self.pairs.before(a, b)
        if decided is not None:
            return int(decided), 0, None
        if (a, b) in self.binary:
            return 0, 1, self.binary[a, b]
        return 1, -1, self.binary[b, a]

    def total(self, weighted):
        """The sum of weight * [a before b] as an affine expression."""
        constant, terms = 0, []
        for weight, a, b in weighted:
            c, k, x = self.before(a, b)
            constant += weight * c
            if x is not None:
                terms.append((x, weight * k))
        return pulp.LpAffineExpression(terms, constant)


def build(inst, horizon):
    problem = pulp.LpProblem("schedule", pulp.LpMinimize)
    pairs = instance.Pairs(inst, horizon)
    order, tail = Order(pairs), inst.tails()
    start = [pulp.LpVariable(f"s{op}", pairs.head[op], pairs.latest[op]) for op in range(inst.count)]
    length = pulp.LpVariable("makespan", inst.simple_bound(), horizon)
    problem += length
    for a, b, lag in inst.arcs:
        problem += start[b] - start[a] >= inst.duration[a] + lag
    for op in range(inst.count):
        if not inst.after[op]:
            problem += length - start[op] >= inst.duration[op]
    disjunctions(inst, problem, order, start)
    work(inst, problem, order, start, length, tail)
    memory(inst, problem, order)
    return problem


def disjunctions(inst, problem, order, start):
    head, latest, d = order.pairs.head, order.pairs.latest, inst.duration
    for (a, b), x in order.binary.items():
        big = latest[a] + d[a] - head[b]
        problem += start[b] - start[a] - big * x >= d[a] - big
        big = latest[b] + d[b] - head[a]
        problem += start[a] - start[b] + big * x >= d[b]
    for a, b in order.pairs.forced:
        problem += start[b] - start[a] >= d[a]
    for p, q in order.pairs.monotone():
        problem += order.total([(1, *q), (-1, *p)]) >= 0


def work(inst, problem, order, start, length, tail):
    """What is before an operation on its device has to fit before its start, what
    is after it after its end."""
    head, d = order.pairs.head, inst.duration
    for ops in inst.on:
        for op in ops:
            others = [q for q in ops if q != op]
            before = order.total([(d[q], q, op) for q in others])
            problem += start[op] - before >= min(head[q] for q in ops)
            after = order.total([(d[q], op, q) for q in others])
            problem += length - start[op] - after >= d[op] + min(tail[q] for q in ops)


def memory(inst, problem, order):
    for limit in inst.memory:
        for op, at_start, _ in limit["deltas"]:
            if at_start <= 0:
                continue
            held = order.total([(s + e, q, op) for q, s, e in limit["deltas"] if q != op and s + e != 0])
            if len(held):
                problem += held <= limit["limit"] - at_start


def version():
    """The version of the CBC that PuLP brings along."""
    out = os.popen(f"'{pulp.PULP_CBC_CMD().path}' -quit 2>/dev/null").read()
    found = re.search(r"Version:\s*(\S+)", out)
    return "cbc " + (found.group(1) if found else "?") + ", pulp " + pulp.__version__


if __name__ == "__main__":
    instance.run("cbc", version(), solve)
