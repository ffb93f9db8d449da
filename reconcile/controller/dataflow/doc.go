// Package dataflow describes the watches, reads, writes and minimal permissions of an operator for reviewers, as data,
// text, a diagram and RBAC manifests.
//
// controller.NewPage creates a [Page] from the declarations of controllers, without a cluster. [Page.Files] returns the
// files for the operator's repository. lint.Generated is a test that compares them with the current declarations.
package dataflow
