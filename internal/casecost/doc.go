// Package casecost holds one case of a fuzz target against the time and the memory that it may take.
package casecost
