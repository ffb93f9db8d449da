// Package ownedconditions reads from managedFields which field manager owns which conditions of an object.
package ownedconditions
