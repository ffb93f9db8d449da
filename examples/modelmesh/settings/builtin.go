package settings

import _ "embed"

// builtIn are the values that count where the user says nothing: those of the product's file of defaults.
//
//go:embed builtin.yaml
var builtIn []byte
