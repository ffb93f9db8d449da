// Package check names the checks of reconciletest.Converge: what a finding is about, and what a system accepts of one.
package check
