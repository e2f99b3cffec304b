// Package tune searches the space of schedules of a configuration: how its stages
// are made and placed, how backward passes run, and how actors choose. It looks at
// a small part of the points, prunes by lower bounds, and hands the best few
// problems to the exact solver.
package tune
