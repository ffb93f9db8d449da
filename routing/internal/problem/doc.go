// Package problem words what is wrong with an owner's spec: errors of category InvalidSpec whose message is bounded, whatever the user
// has written.
package problem
