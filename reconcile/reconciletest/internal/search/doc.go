// Package search explores a system: it runs its stories without faults, then again with everything going wrong that can, one thing
// in each case. The cases come from the packages faults and drift, and verdict checks how each run ends and what happens on the way.
package search
