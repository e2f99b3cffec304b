#!/usr/bin/env bash
# A tour of FlexPipe in two minutes. Usage: examples/demo.sh [path of flexpipe]
set -euo pipefail
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
flexpipe=$(realpath "${1:-$root/bin/flexpipe}")
cd "$root"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

heading() { printf '\n=== %s\n' "$*"; }

# Shows a command as a user would type it, then runs it.
run() {
	printf '$ flexpipe'
	printf ' %s' "${@//"$out/"/}"
	printf '\n'
	"$flexpipe" "$@"
}

heading "1. The best plan for a small GPT on four devices, proved and drawn"
run solve examples/quickstart.yaml --gantt --time-limit 10s -o "$out/quickstart.json"

heading "2. Is the plan sound? Every rule and the memory, judged independently"
run check "$out/quickstart.json"

heading "3. The 1.5B model of the Zero Bubble paper: the paper's ZB-H1 ..."
run solve examples/zero-bubble-1.5b.yaml --schedule zb-h1 -q

heading "4. ... and the best plan found within the memory limit"
run solve examples/zero-bubble-1.5b.yaml --time-limit 10s -o "$out/zero-bubble.json"

heading "5. Half the memory of 1F1B, two chunks per device: heuristics leave a gap ..."
run solve examples/v-half-memory.yaml --mode heuristic -q

heading "6. ... and the exact search closes it, with a proof"
run solve examples/v-half-memory.yaml --gantt -o "$out/v-half.json" --proof "$out/v-half.proof.gz"

heading "7. Is the proof sound? Every step, verified from the file"
run check "$out/v-half.json" --proof "$out/v-half.proof.gz" -q

heading "8. A frozen encoder: some stages have no backward pass"
run solve examples/frozen-encoder.yaml --gantt

heading "9. A schedule of your own, in a few lines: 1F1B from priorities, run by the decoder"
run build examples/schedules/1f1b.star -q --gantt

heading "10. A GPT with a vocabulary of a million tokens: what would be faster than 1F1B, and why"
run tune examples/million-vocabulary-gpt-4.yaml --time-limit 20s

heading "11. The first plan, executed: it trains the network, on the cores that this machine has"
run run "$out/quickstart.json" --iterations 2 --warm-up 1

heading "12. What the layers of a GPT for two cores really take here ..."
run profile examples/gpt-cpu.yaml --iterations 1 -q -o "$out/layers.json"

heading "13. ... is what this plan is made for, which moves layers and holds back weight gradients ..."
sed -e '/^# Roughly one core/,/^  link_latency/d' examples/gpt-cpu.yaml >"$out/measured.yaml"
printf 'profile: layers.json\n' >>"$out/measured.yaml"
run tune "$out/measured.yaml" --vocabulary none --chunks 1 --time-limit 10s -q -o "$out/tuned.json"

heading "14. ... and executed in turn with 1F1B: measured beside predicted"
run bench "$out/measured.yaml" --schedules "1f1b,$out/tuned.json" --iterations 3 --warm-up 1

heading "Next: flexpipe init my.yaml, edit it, flexpipe solve my.yaml"
