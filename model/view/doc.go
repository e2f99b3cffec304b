// Package view draws plans: as text for terminals and golden files, and as SVG.
//
// A picture has one lane for each device and a time axis in the user's unit,
// with the figures of the plan beside it. Drawing is deterministic: the same
// plan gives the same bytes.
package view
