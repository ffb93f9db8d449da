// Package defaulting computes the effective form of a spec from the stored one, and the difference between them.
//
// Defaults that depend on the operator's own settings, such as an image, are not written into the user's object: the next version
// of the operator could not change them, and a value that the user wrote could not be distinguished from one that was filled in. They are
// steps of a pure function instead, run in memory on a copy in every pass:
//
//	effective := defaulting.Effective(stored.Spec.DeepCopy(), withImage(settings), withGeneratedDatabase)
//	status.SpecDefaults, err = defaulting.Difference(stored.Spec, effective)
//
// The same steps serve an admission webhook that does fill in the object.
package defaulting
