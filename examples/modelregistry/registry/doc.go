// Package registry is the controller of ModelRegistry: a server with its database, its proxy and its routes.
//
// What the children look like is in templates; which there are is the list in children.go. The spec that they are made from is
// the stored one with defaults and, for a generated database, the connection to it, see Effective of the settings.
package registry
