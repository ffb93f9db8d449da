// Package conditionlist finds the conditions of an owner, whatever the Go type of the owner is.
package conditionlist
