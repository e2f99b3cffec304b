"""OR-tools CP-SAT: intervals, no overlap on each device, memory as a cumulative
resource."""

import time

import ortools
from ortools.sat.python import cp_model

import instance


def solve(inst, deadline, workers, first):
    horizon = instance.makespan(inst, first) if first else sum(inst.duration) + sum(lag for _, _, lag in inst.precedences)
    model, start = build(inst, horizon)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(0.01, deadline - time.monotonic())
    solver.parameters.num_workers = workers
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return None, None, first is None
    if status == cp_model.MODEL_INVALID:
        raise ValueError(model.validate())
    bound = round(solver.best_objective_bound)
    if status == cp_model.UNKNOWN:
        return None, max(bound, 0), False
    return [solver.value(s) for s in start], bound, status == cp_model.OPTIMAL


def build(inst, horizon):
    model = cp_model.CpModel()
    head, tail = inst.heads(), inst.tails()
    start = [
        model.new_int_var(head[op], horizon - tail[op] - inst.duration[op], f"s{op}")
        for op in range(inst.count)
    ]
    run = [model.new_fixed_size_interval_var(start[op], inst.duration[op], f"o{op}") for op in range(inst.count)]
    for a, b, lag in inst.arcs:
        model.add(start[b] >= start[a] + inst.duration[a] + lag)
    for ops in inst.on:
        if len(ops) > 1:
            model.add_no_overlap([run[op] for op in ops])
    length = model.new_int_var(inst.simple_bound(), horizon, "makespan")
    for op in range(inst.count):
        if not inst.after[op]:
            model.add(length >= start[op] + inst.duration[op])
    memory(inst, model, start, horizon)
    model.minimize(length)
    return model, start


def memory(inst, model, start, horizon):
    """Each amount is held from the start of what takes it to the end of what gives
    it back."""
    for limit, pieces in zip(inst.memory, inst.held()):
        held, amounts = [], []
        for k, (a, b, amount) in enumerate(pieces):
            end = horizon if b is None else start[b] + inst.duration[b]
            size = model.new_int_var(0, horizon, "")
            held.append(model.new_interval_var(start[a], size, end, f"m{limit['device']},{k}"))
            amounts.append(amount)
        if held:
            model.add_cumulative(held, amounts, limit["limit"])


if __name__ == "__main__":
    instance.run("cpsat", "ortools " + ortools.__version__, solve)
