// Package check names the checks of reconciletest.Converge, which appear in findings and in System.Accepted.
package check
