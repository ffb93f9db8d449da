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
// YAML too and needs no indentation; and quote writes a string with quotes around it. A map key that is missing and a value that
// is nil are errors instead of "<no value>". Templates whose names begin with an underscore are parts for others
// ({{template "labels" .}}).
//
// # Texts of users
//
// A text of the data comes out as that text, in the place where the template has it, or there is an error: it never adds a
// field, moves to another one, ends in a comment or becomes a number by the way. What the templates write and what the data
// gives are kept apart while a template is executed, without marks in the text. A text that YAML could take for something else is
// checked by rendering the document again with a word in the place of each value; both have to read alike. quote and json
// take every text; without them a text may be what YAML reads as itself, such as a name.
//
// # Limits
//
// An object may have 3 MiB, a stream 16 MiB and 10,000 documents; a document 100 levels and 250,000 values, of which its
// aliases may give 256 KiB, counted with 64 bytes for each value; the loops of a template take 100,000 turns together. Errors name the limit.
//
// # Decoding
//
// The content of an object is what its YAML writes, false, 0, "", [] and {} too, so that the engine owns and repairs these values. The
// Go type of the kind is a check: the kind must be in the scheme, and a field that its Go type does not have, a field given twice and a
// value of the wrong type are errors. [Change] edits an object as its Go type without losing what the type leaves out. A null is no value, except
// where the Go type reads it as a scalar, such as the value of a label. A null in a list is an error. YAML is read as version 1.2, with the
// octal numbers of 1.1; plain words that 1.1 takes for booleans (yes, no, on, off, y, n) are errors, keys are strings. Every [Error] names
// the template, its line and the field, also where conditions and loops have moved the lines of the rendered text. No error
// contains the document or the text of a decoder.
//
// A kind of another project needs no Go type: a scheme names it with
// AddKnownTypeWithName(kind, &unstructured.Unstructured{}), and only its metadata is checked.
//
// A template that renders to nothing but comments is an error too: whether a child exists is for the caller to declare, not
// for the template to hide.
//
// [Objects] reads what another program or library has rendered, such as kustomize. It flattens lists.
//
// The package reads no cluster and no clock, and the same input gives the same object.
package manifests
