// Package manifests renders Kubernetes objects from YAML templates that are embedded in the program.
//
// Parse a [Set] once at program start, and render it for each owner with a value of your own type:
//
//	//go:embed children/*.yaml
//	var files embed.FS
//
//	set, err := manifests.Parse(files, scheme, "children/*.yaml")
//	service, err := set.Render("service.yaml", facts)
//
// Templates use text/template with two additional functions: json writes any value as JSON, which is valid YAML and needs no indentation;
// quote writes a quoted string. A missing map key and a nil value are errors instead of "<no value>". Templates whose names begin with an
// underscore are included by others ({{template "labels" .}}).
//
// # User input
//
// A string of the data appears in the object unchanged, or Render returns an error: a value cannot add a field, move to another field,
// become a comment or change its type. The renderer records which parts of the text come from the data. To check ambiguous values, it
// renders the document again with a placeholder for each value and compares both documents. quote and json accept every string; without
// them a string must be plain YAML, such as a name.
//
// # Limits
//
// The limits are: 3 MiB for an object; 16 MiB and 10,000 documents for a stream; 100 levels and 250,000 values for a document; 256 KiB
// for values from aliases in a document, each counted with 64 bytes; 100,000 iterations for all loops of a template. Errors name the
// limit.
//
// # Decoding
//
// An object has the content of its YAML, including false, 0, "", [] and {}, so that the engine owns and repairs these values. The content
// is checked against the Go type of the kind: the kind must be in the scheme; unknown fields, duplicate fields and values of the wrong
// type are errors. [Change] edits an object as its Go type without losing values that the type omits. A null counts as absent, except
// where the Go type reads it as a scalar, such as the value of a label. A null in a list is an error. YAML is parsed as version 1.2, with
// the octal numbers of 1.1. Plain words that are booleans in 1.1 (yes, no, on, off, y, n) are errors. Keys are strings. Every [Error]
// names the template, its line and the field, also if conditions and loops move lines of the rendered text. No error contains the
// document or the text of a decoder.
//
// A kind of another project needs no Go type: register it in the scheme with AddKnownTypeWithName(kind, &unstructured.Unstructured{}).
// Only its metadata is checked.
//
// A template that renders only comments is an error: the caller decides whether a child exists, not the template.
//
// [Objects] decodes the output of other renderers, such as kustomize. It flattens lists.
//
// The package accesses no cluster and no clock. The same input gives the same object.
package manifests
