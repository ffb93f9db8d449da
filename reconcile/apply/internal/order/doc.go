// Package order ranks kinds: what others need is applied first and deleted last.
package order
