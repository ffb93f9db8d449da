// Package objects reads and writes objects as decoded JSON: their names, their order, their values.
package objects
