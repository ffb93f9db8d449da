// Package managedfields reads the managedFields of objects: which fields a
// manager owns, and where they are. It knows the fieldsV1 form and the paths by
// which authors name fields.
package managedfields
