// Package casecost limits the time and the memory of one case of a fuzz target.
package casecost
