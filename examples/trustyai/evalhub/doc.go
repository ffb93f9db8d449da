// Package evalhub has the controllers of EvalHub: the server that evaluates language models, and the rights and files that it needs in the
// namespaces of its tenants.
package evalhub
