// Package objects reads and writes objects as decoded JSON: their names, their order, the values that are set in them.
package objects
