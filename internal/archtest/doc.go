// Package archtest checks the architecture: which package may import which, where C, printing,
// the environment, clocks and randomness are allowed. The policy is text, in rules.go; the check
// reads every Go file of the repository whatever its build tags, without building it.
package archtest
