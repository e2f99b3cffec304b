// Package clp solves linear programs with COIN-OR's CLP, a sparse simplex code that
// also takes programs of thousands of rows, by way of github.com/lanl/clp. It is
// compiled only with the build tag clp and with cgo, and needs the header files of
// CLP, g++ and pkg-config (on Debian: coinor-libclp-dev); New says so in other
// builds.
package clp
