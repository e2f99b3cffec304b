// Package benchmarks measures the whole program against what is known: cases of
// users, instances with best known values, closed forms and published tables.
// Quality is tested, speed is only reported.
package benchmarks
