// Package description has what a test says of an operator: how it is set up, what it reconciles, the world that it lives in, and
// the stories that follow from that.
package description
