// Package applyset formats the metadata that an owner records about its children: the ID of its set, and the inventory of the kinds and
// namespaces of its members, as specified by KEP-3659.
package applyset
