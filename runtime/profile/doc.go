// Package profile measures what the layers of a network and the messages between devices
// take, predicts from it what a plan takes, and writes and reads it as a profile file.
package profile
