// Package crdschema processes custom resources by the schema of their definition with the API server's own libraries: it prunes unknown
// fields, sets defaults and validates, including CEL rules, transition rules and ratcheting.
package crdschema
