// Package trace records through which rooms a call leads, for the command way, which adds its calls to the source.
package trace
