// Package served compares the declared kinds with what the API server serves of them: whether they are installed, have namespaces, the
// resource that the rights name, and a status subresource.
package served
