package main

import "testing"

func TestMemAvailable(t *testing.T) {
	const meminfo = "MemTotal:       24683920 kB\nMemFree:        20271152 kB\nMemAvailable:   22569484 kB\nBuffers:          148 kB\n"
	if n, known := memAvailable([]byte(meminfo)); !known || n != 22569484<<10 {
		t.Errorf("%d bytes, %v", n, known)
	}
	for _, bad := range []string{"", "MemTotal: 1 kB\n", "MemAvailable: many kB\n", "MemAvailable:\n"} {
		if n, known := memAvailable([]byte(bad)); known {
			t.Errorf("%q has %d bytes available", bad, n)
		}
	}
	if n, known := availableMemory(); known && n <= 0 {
		t.Errorf("this machine has %d bytes left", n)
	}
}
