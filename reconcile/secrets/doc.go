// Package secrets makes credentials once and keeps them: what exists is never overwritten, what is missing is filled in.
//
// The plan of a pass is a pure function and draws no random numbers, so the values are made while fetching:
//
//	credentials := secrets.Fetch(ctx, r, key, secrets.Keys{
//		"username": secrets.Literal("app"),
//		"password": secrets.Random(16),
//	})
//
// and planned with [Rules], which set a value where there is none and never change it:
//
//	plan.Apply(&corev1.Secret{ObjectMeta: meta, Data: credentials.Value}, secrets.Rules(credentials.Value))
//
// A password that is made in a pass that does not get to apply is forgotten and made anew in the next one. The API server's
// word counts: a value that is there stays, also when the cache hides the Secret or lags behind it, and when two leaders make
// one at once.
//
// Nothing here rotates credentials, and no value ever gets into an error.
package secrets
