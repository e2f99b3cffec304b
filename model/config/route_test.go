package config

import "testing"

func TestRoutes(t *testing.T) {
	head := "version: 1\ndevices: 3\nmicro_batches: 5\ncosts: {forward: 1, backward_input: 1, backward_weight: 1}\n"
	decodeRoutes := func(text string) *Config {
		t.Helper()
		c, err := Decode([]byte(head+text), "c.yaml")
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, c)
		return c
	}
	c := decodeRoutes("routes: [[0, 1, 2, 2], [[2, 1], 0, 0, 0], loop]\n")
	same(t, []Placement{
		{Rule: Listed, Devices: [][]int{{0}, {1}, {2}, {2}}},
		{Rule: Listed, Devices: [][]int{{1, 2}, {0}, {0}, {0}}},
		{Rule: Loop, Devices: [][]int{{0}, {1}, {2}, {0}}},
	}, c.Routes)
	same(t, c.Routes[0], c.Placement)
	same(t, []int{0, 0, 1, 1, 2}, c.RouteOf)
	same(t, []int{1, 0, 0, 0, 1}, decodeRoutes("routes: [linear, [2, 1, 0]]\nroute_of: [1, 0, 0, 0, 1]\n").RouteOf)
	if c := decodeRoutes("routes: [[0, 0], [1, 1]]\n"); len(c.Warnings) != 1 || c.Warnings[0].String() != "5:9: routes: device 2 has no stage" {
		t.Error(c.Warnings)
	}
}
