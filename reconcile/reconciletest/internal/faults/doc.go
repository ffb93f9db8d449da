// Package faults lists the cases with faults in a baseline: requests that fail once, twice, several times and permanently, lagging caches,
// late, duplicate or lost events, overlapping instances.
package faults
