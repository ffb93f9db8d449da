// Package preview models the changes that an operator would make: for each owner the objects that it would write or delete, field by
// field. It renders them as a table, as a diff and as JSON. The package does not access a cluster. The function Preview of package
// reconcile/controller returns a [Report] and only reads.
//
// A report contains no values of Secrets.
package preview
