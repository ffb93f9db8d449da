// Package crdschema does with custom resources what an API server does by the schema of their definition, with the API server's
// own libraries: it prunes fields that the schema does not know, fills in defaults, and validates, with the rules in CEL, with
// transition rules and with the ratcheting of what was invalid before.
package crdschema
