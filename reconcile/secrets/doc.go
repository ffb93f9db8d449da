// Package secrets generates credentials once. It fills in missing values and never overwrites existing ones.
//
// A plan is a pure function and cannot use random numbers, so generate the values while fetching:
//
//	credentials := secrets.Fetch(ctx, r, key, secrets.Keys{
//		"username": secrets.Literal("app"),
//		"password": secrets.Random(16),
//	})
//
// Plan them with [Rules], which set missing values and never change existing ones:
//
//	plan.Apply(&corev1.Secret{ObjectMeta: meta, Data: credentials.Value}, secrets.Rules(credentials.Value))
//
// If a reconciliation ends before the apply, its password is dropped and the next reconciliation generates another. The stored value
// wins: it is kept even if the cache hides the Secret or is stale, and if two leaders generate a value concurrently.
//
// The package does not rotate credentials. Errors contain no values.
package secrets
