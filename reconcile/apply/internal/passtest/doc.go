// Package passtest starts a pass for the examples of the parts of the engine. Whatever depends on the behaviour of an API server is
// tested by the engine on a real one.
package passtest
