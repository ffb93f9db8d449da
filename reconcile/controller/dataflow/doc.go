// Package dataflow is the page of an operator for reviewers: what its controllers watch, read and write, and the least rights that
// this needs, as data, as text, as a diagram and as RBAC manifests.
//
// A [Page] is made from the declarations of controllers by controller.NewPage and needs no cluster. [Page.Files] are the files that
// an operator keeps in its repository; a test that compares them with what the declarations give now is
// lint.Generated.
package dataflow
