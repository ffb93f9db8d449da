// Package prune finds the children that are no longer planned, guards them
// against a mass prune that nothing explains, deletes them, gives contributions
// back, and shrinks the inventory by what is gone.
package prune
