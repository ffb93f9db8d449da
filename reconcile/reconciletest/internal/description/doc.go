// Package description contains a test's description of an operator: its setup, its owners, its cluster, and the stories that follow from
// them.
package description
