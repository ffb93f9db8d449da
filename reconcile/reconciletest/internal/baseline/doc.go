// Package baseline records the runs of a system without faults: their requests, their end state, and the objects that others can disturb. A
// case repeats such a baseline with a fault.
package baseline
