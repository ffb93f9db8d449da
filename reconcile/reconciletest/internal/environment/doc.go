// Package environment is one API server for a test binary: fresh namespaces, clients under any service account, its audit
// log, and accounts that have the rights of an operator and nothing else.
package environment
