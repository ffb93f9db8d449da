// Package fieldset reads which fields of an object a field manager owns, and compares a live object with its plan.
//
// A [Set] is the parsed form of one entry of managedFields. A [Path] names a field as authors write it; a [Place] is its position in one
// object. A [Subject] has an object, the set and the planned content. [Comparison] reports the fields that differ. A hash of the owned
// part of an object ([Hasher]) shows later, without the plan, that nothing has changed.
package fieldset
