// Package kinds finds out, and remembers, what there is to know about the kinds
// of planned objects: version, scope, rank, Go type and schema.
package kinds
