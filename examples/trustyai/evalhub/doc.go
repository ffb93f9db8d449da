// Package evalhub reconciles EvalHub: a server that evaluates language models, with the permissions and files that it needs in the
// namespaces of its tenants.
package evalhub
