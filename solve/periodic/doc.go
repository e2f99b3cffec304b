// Package periodic finds schedules that repeat: every micro-batch does the same as
// the one before, a period later. How hard that is does not depend on the number of
// micro-batches, and between warm-up and cool-down such a schedule is often as good
// as any.
//
// A pattern gives each row of operations a start for micro-batch 0; micro-batch m
// runs m periods later. Two rows a and b of one device interleave in the same way
// for ever: there is a whole number y with
//
//	duration(a) <= start(b) - start(a) - y·period <= period - duration(b),
//
// so that between two starts of a, for micro-batches i and i+1, b runs once, for
// i-y. This is modulo scheduling as compilers know it for loops (Rau 1994; its
// exact form, Eichenberger and Davidson 1997), and what Tessel calls a repetend
// (Lin et al., HPCA 2024). The memory that a device holds whenever it starts a row
// is linear in the y, and with all y fixed the starts obey a system of differences.
//
// The search decides the y one by one, keeps the longest paths between all rows up
// to date and concludes from them and from the memory limits which y are left. What
// can be repeated in a period can be repeated, in the same order, in any longer
// one; so periods are searched by bisection, from the work of the busiest device
// upwards. That a period is the smallest says nothing about schedules whose
// micro-batches are not all alike.
//
// Unrolled, a pattern gives each device an order: that of the starts. Warm-up and
// cool-down are the ends of it, and take no more memory than the middle, since a
// row that waits for another one never runs ahead of it. The engine tries several
// patterns and moves operations into the gaps that the ends leave.
package periodic
