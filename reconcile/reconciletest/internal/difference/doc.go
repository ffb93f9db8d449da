// Package difference compares two states of a cluster field by field, and finds the random values in two runs of the same steps.
package difference
