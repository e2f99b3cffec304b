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
	if n := inactiveFile([]byte("anon 4096\nfile 9000\ninactive_anon 1\ninactive_file 8192\nactive_file 808\n")); n != 8192 {
		t.Errorf("%d bytes of files that may be given up, want 8192", n)
	}
	if n := inactiveFile([]byte("anon 4096\n")); n != 0 {
		t.Errorf("%d bytes of files where none are listed", n)
	}
	if n, known := availableMemory(); known && n <= 0 {
		t.Errorf("this machine has %d bytes left", n)
	}
}
