// Package vectors runs recorded cases: inputs and results of another engine with the same rules, each answered as recorded, or
// otherwise for a reason that is written down. It is for tests.
package vectors
