// Package shape describes the JSON schema of a kind, and generates random values and random changes.
//
// A [Shape] is read from the OpenAPI document of an API server ([FromOpenAPI]), or is generated ([Random]) and converted to the schema of
// a custom resource definition ([Shape.Schema]) and to a Go type ([Shape.GoType]). All random values come from the given generator, so
// that the same seed gives the same values.
package shape
