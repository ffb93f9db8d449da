// Package deletion decides about and carries out the deletions of a plan.
package deletion
