// Package description contains a test's description of an operator: its setup, its owners, its cluster, and the baselines that follow from
// them.
package description
