package settings

import _ "embed"

// builtIn contains the defaults of the product.
//
//go:embed builtin.yaml
var builtIn []byte
