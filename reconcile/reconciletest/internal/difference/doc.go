// Package difference compares two states of a world field by field, and finds the random values in two runs of the same story.
package difference
