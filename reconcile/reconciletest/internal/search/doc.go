// Package search explores a system: it runs its baselines without faults, then again with one fault in each case. The packages faults and
// drift define the cases, and checker checks the end state and the intermediate states of each run.
package search
