// Package write sends what was decided about the children of a pass, and follows
// what the API server answers.
package write
