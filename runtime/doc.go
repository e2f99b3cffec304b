// Package runtime executes programs: one actor for each device, a goroutine that runs the
// device's instructions in order and talks to the others by messages. Importers call it
// pipert, since the standard library has a package runtime.
//
// What a device does with an operation is the affair of a backend: runtime/cpu trains a
// network, runtime/emulated waits. The engine brings messages, counts memory, measures, and
// makes sure that every run ends: by its last instruction, or with a [Fault] that says which
// device was where and what it waited for.
package runtime
