// Package fieldset reads which fields of an object a field manager owns, and
// compares a live object with what is planned of it.
//
// A [Set] is the parsed form of one entry of managedFields. A [Path] names a
// field as authors write it, a [Place] where it is in one object. A [Subject]
// holds an object, the set and the planned content; [Comparison] reports the
// fields that differ, and a hash of the owned part of an object ([Hasher]) shows
// later that nothing has changed, without the plan.
package fieldset
