// Package difference compares two states of a world field by field, and finds what two runs of the same story draw at random.
package difference
