// Package catalogapi serves the read-only HTTP API of models as a service: the subscriptions of a user, and the models that these
// give access to. It answers from the caches of the operator and sends no request to the API server. It has no endpoints for API
// keys.
package catalogapi
