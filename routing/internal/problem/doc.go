// Package problem makes errors about an owner's spec: errors of category InvalidSpec whose message is bounded, whatever the user
// has written.
package problem
