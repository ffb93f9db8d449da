// Package catalogapi serves the read-only HTTP API of models as a service: the subscriptions of a user, and the models that they open. It
// answers from the caches of the operator and asks the API server for nothing. API keys are another product: it has no endpoint of them.
package catalogapi
