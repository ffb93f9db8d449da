// Package admission builds admission webhooks from pure functions that set defaults or validate objects.
//
//	kinds := admission.Kinds[*v1.Cabinet]{
//		Hub:    func() *v1.Cabinet { return &v1.Cabinet{} },
//		Scheme: scheme,
//		Spokes: map[schema.GroupVersionKind]func() conversion.Convertible{ ... },
//	}
//	server.Register("/mutate", admission.Defaulting(kinds, setDefaults))
//	server.Register("/validate", admission.Validating(kinds, validate))
//
// The functions receive the hub version; the response is in the version of the request.
//
// [Defaulting] answers with a patch of only the changed fields. A patch computed from the entire object, which is common, would also add
// empty values for required fields that the user omitted, so that validation no longer detects them, and would remove fields that the
// program does not know.
//
// A kind with one version has no Spokes. [ByKind] serves several kinds on one path. Use [Reviewing] instead of [Validating] for responses
// with a custom code and message, or with a message for allowed objects:
//
//	server.Register("/validate", admission.ByKind(map[schema.GroupKind]*webhook.Admission{
//		{Group: "example.com", Kind: "Cabinet"}: admission.Reviewing(cabinets, reviewCabinet),
//		{Group: "example.com", Kind: "Shelf"}:   admission.Reviewing(shelves, reviewShelf),
//	}))
//
// [Validating] and [Reviewing] allow all changes of an object that is being deleted, because a rule that is newer than the object must
// not prevent the removal of a finalizer.
package admission
