// Package applyset holds what an owner records about its children: the id of
// its set, and the inventory of where its members may be, in the form of
// KEP-3659.
package applyset
