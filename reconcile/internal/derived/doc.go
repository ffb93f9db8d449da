// Package derived keeps a value that is a pure function of many objects, one object at a time: what each object gives is
// remembered, so that the change of one object costs one call of the function, and only a change of the value is news.
package derived
