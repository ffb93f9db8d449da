// Package conditionlist reads and writes the conditions of an owner of any Go type.
package conditionlist
