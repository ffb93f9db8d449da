// Package catalog is the controller of the model catalog: one server of the cluster that lists models, with its database. No
// object asks for it; the operator's environment does. It is a singleton, and its children are labelled instead of owned.
//
// What the children look like is in templates; which there are, and what becomes of each when the catalog is switched off, is
// the list in children.go. The documents of users, which the operator creates and then leaves to them, are in sources.go.
package catalog
