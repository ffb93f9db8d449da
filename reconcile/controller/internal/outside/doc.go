// Package outside holds what the passes of a controller have observed outside of the cluster: it remembers which owner has observed
// what, and wakes the owner when that changes.
package outside
