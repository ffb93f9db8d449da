// Package admission makes admission webhooks of pure functions: one that fills in defaults, and ones that find what is wrong.
//
//	kinds := admission.Kinds[*v1.Cabinet]{
//		Hub:    func() *v1.Cabinet { return &v1.Cabinet{} },
//		Scheme: scheme,
//		Spokes: map[schema.GroupVersionKind]func() conversion.Convertible{ ... },
//	}
//	server.Register("/mutate", admission.Defaulting(kinds, setDefaults))
//	server.Register("/validate", admission.Validating(kinds, validate))
//
// The functions see the hub version, whatever version the user has written in; the answer is in the version of the request.
//
// [Defaulting] answers with a patch of exactly the fields that the function has changed. An answer with the whole object, as it
// is usually made, would also add empty values for required fields that the user has left out, so that they are never
// found missing, and would drop fields that the program does not know.
//
// [Validating] lets everything through that is being deleted: a rule that is newer than an object must not keep a finalizer from
// being removed.
package admission
