// Package registry reconciles ModelRegistry: a server with its database, its proxy and its routes.
//
// The files in templates define the children, and children.go lists them. They depend on the effective spec: the stored spec with
// defaults and, for a generated database, with the connection to it; see Effective of the settings.
package registry
