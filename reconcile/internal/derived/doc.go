// Package derived caches a value that is a pure function of many objects. It remembers the contribution of each object, so that a change
// of one object costs one call of the function, and reports only changes of the value.
package derived
