// Package plansize measures plans: how many bytes a child has, and which kinds
// take most of a plan.
package plansize
