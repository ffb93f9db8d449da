// Package shape describes the JSON that a kind of object may hold, makes random
// values of it and random changes to them.
//
// A [Shape] comes from the OpenAPI document of an API server ([FromOpenAPI]),
// or is made up ([Random]) and turned into the schema of a custom resource
// definition ([Shape.Schema]) and into a Go type ([Shape.GoType]). Whatever is
// random comes from the generator that is passed in, so that the same seed
// makes the same values.
package shape
