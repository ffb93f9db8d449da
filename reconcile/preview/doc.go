// Package preview is what an operator would do, as data: for each owner the objects that it would write or delete, field by field. It
// renders that as a table, as a diff and as JSON. It knows nothing of clusters: package reconcile/controller makes a [Report] with its
// function Preview, which only reads.
//
// Values of Secrets are masked where the report is made.
package preview
