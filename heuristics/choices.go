package heuristics

import "github.com/flexpipe/flexpipe/cssr"

// Choices returns the choices that give a configuration with one stage per device the shape of the
// schedule, in so many chunks of each stage; up to 1 the stages stay whole, and where they are
// placed is left to the configuration. ownRoutes says that the configuration has routes of its own:
// then a schedule in two directions adds none.
//
// The schedule may be defined for other numbers of chunks only, see [Schedule.Build].
func (s *Schedule) Choices(chunks int, ownRoutes bool) cssr.Choices {
	backward := s.Backward
	c := cssr.Choices{Backward: &backward, Bidirectional: s.Bidirectional && !ownRoutes}
	if chunks > 1 {
		c.SplitStages = chunks
		if s.Placement != "linear" {
			c.Placement = s.Placement
		}
	}
	return c
}
