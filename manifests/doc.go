// Package manifests makes Kubernetes objects of YAML templates that are embedded in the program.
//
// A [Set] is parsed once, when the program starts, and rendered for each owner with a value of the caller's own type:
//
//	//go:embed children/*.yaml
//	var files embed.FS
//
//	set, err := manifests.Parse(files, scheme, "children/*.yaml")
//	service, err := set.Render("service.yaml", facts)
//
// A template is text of text/template with two functions besides the built-in ones: json writes any value as JSON, which is
// YAML too and needs no indentation; and quote writes a string with quotes around it. A map key that is missing is an error
// instead of "<no value>". Templates whose names begin with an underscore are parts for others ({{template "labels" .}}).
//
// Decoding is strict: the kind must be in the scheme, and a field that its Go type does not have, a field given twice and a
// value of the wrong type are errors. Every [Error] names the template and the line of the template, also where conditions and
// loops have moved the lines of the text that came out.
//
// A template that renders to nothing but comments is an error too: whether a child exists is for the caller to declare, not
// for the template to hide.
//
// What another program or library has rendered, such as kustomize, comes in through [Objects].
//
// The package reads no cluster and no clock, and the same input gives the same object. Values are not escaped: use json or
// quote for whatever a user has written.
package manifests
