// Package defaulting computes the effective form of a spec from the stored one, and the difference between them.
//
// Do not write defaults that depend on the operator's settings, such as an image, into the user's object: the next version of the
// operator could not change them, and could not distinguish them from the user's values. Compute them in memory on a copy, in every
// reconciliation:
//
//	effective := defaulting.Effective(stored.Spec.DeepCopy(), withImage(settings), withGeneratedDatabase)
//	status.SpecDefaults, err = defaulting.Difference(stored.Spec, effective)
//
// An admission webhook that stores defaults can use the same steps.
package defaulting
