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
// A kind with one version has no Spokes. Several kinds share a path by [ByKind]. A product that answers with a code and words of its
// own, also when it lets an object through, uses [Reviewing] in the place of [Validating]:
//
//	server.Register("/validate", admission.ByKind(map[schema.GroupKind]*webhook.Admission{
//		{Group: "example.com", Kind: "Cabinet"}: admission.Reviewing(cabinets, reviewCabinet),
//		{Group: "example.com", Kind: "Shelf"}:   admission.Reviewing(shelves, reviewShelf),
//	}))
//
// [Validating] and [Reviewing] let everything through that is being deleted: a rule that is newer than an object must not keep a finalizer from
// being removed.
package admission
