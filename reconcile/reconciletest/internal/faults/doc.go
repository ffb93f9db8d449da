// Package faults lists the cases in which a story goes wrong by itself: requests that fail, one, two, several times and for good, caches
// that lag behind, events that are late, doubled or lost, instances that overlap.
package faults
