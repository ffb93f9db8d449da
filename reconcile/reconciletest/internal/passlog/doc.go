// Package passlog keeps what the passes of an operator log: panics and errors always, every line when it is asked to.
package passlog
