// Package planerror has the error of a plan that is wrong in itself: whoever
// wrote the program has to change it.
package planerror
