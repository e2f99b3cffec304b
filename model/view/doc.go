// Package view draws plans and what ran: as text for terminals and golden files, as
// SVG, and as traces for chrome://tracing and Perfetto.
//
// ASCII and SVG draw one plan in the ticks of its problem, a lane for each device and a
// time axis in the user's unit, with the figures of the plan beside it. Trace, Compare
// and CompareSVG take lanes of nanoseconds, so that what a plan predicts and what really
// ran stand under each other. Drawing is deterministic: the same input gives the same
// bytes.
package view
