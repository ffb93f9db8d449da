// Package catalog reconciles the model catalog: one server per cluster that lists models, with its database. No object requests it;
// the environment of the operator does. It is a singleton, so its children have labels instead of an owner.
//
// The files in templates define the children. The list in children.go defines which of them exist, and what happens to each when the
// catalog is switched off. sources.go plans the documents of users, which the operator creates and users then edit.
package catalog
