package main

import (
	"bytes"
	"os"
	"strconv"
)

// availableMemory returns how many bytes this process can still take, false if that is not
// known: what Linux calls available, within the limit of the control group.
func availableMemory() (n int64, known bool) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	if n, known = memAvailable(text); !known {
		return 0, false
	}
	limit, errLimit := numberIn("/sys/fs/cgroup/memory.max")
	used, errUsed := numberIn("/sys/fs/cgroup/memory.current")
	if errLimit == nil && errUsed == nil {
		stat, _ := os.ReadFile("/sys/fs/cgroup/memory.stat") // without it all counts as used
		n = min(n, max(0, limit-used+inactiveFile(stat)))
	}
	return n, true
}

// memAvailable finds the line "MemAvailable: N kB".
func memAvailable(meminfo []byte) (n int64, known bool) {
	for line := range bytes.Lines(meminfo) {
		if fields := bytes.Fields(line); len(fields) >= 2 && string(fields[0]) == "MemAvailable:" {
			n, err := strconv.ParseInt(string(fields[1]), 10, 64)
			return n << 10, err == nil
		}
	}
	return 0, false
}

// inactiveFile finds the line "inactive_file N", the bytes of files that a control group would give
// up for a program that needs them; 0 if there is none.
func inactiveFile(stat []byte) int64 {
	for line := range bytes.Lines(stat) {
		if fields := bytes.Fields(line); len(fields) == 2 && string(fields[0]) == "inactive_file" {
			n, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			return max(0, n)
		}
	}
	return 0
}

// numberIn returns the number that a file holds; "max" is none.
func numberIn(name string) (int64, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
}
