package controller

import (
	"path"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// purpose is what a controller declares to do with a kind.
type purpose string

const (
	purposeFor         purpose = "For"
	purposeOwns        purpose = "Owns"
	purposeWrites      purpose = "Writes"
	purposeShares      purpose = "Writes, NeverDeletes"
	purposeContributes purpose = "Writes, FieldsOnly"
	purposeReads       purpose = "Reads"
	purposeWatches     purpose = "Watches"
	purposeRetired     purpose = "Owns, Retired"
)

// method is the method of the builder that declares the purpose, and option what stands beside the kind then.
func (p purpose) method() (method, option string) {
	method, option, _ = strings.Cut(string(p), ", ")
	return method, option
}

// call is the declaration of the kind as Go code.
func (p purpose) call(object string) string {
	method, option := p.method()
	if option != "" {
		object += ", controller." + option
	}
	return method + "(" + object + ")"
}

// declaration is one kind named in one call of a builder method, with what stands beside it.
type declaration struct {
	purpose    purpose
	object     client.Object
	source     string // file:line of the call
	mapping    handler.MapFunc
	predicates []predicate.Predicate
	filter     labels.Selector
	indexes    []field
	optional   bool
	resource   string
	misused    []string // options that do not fit the purpose
}

// field is an index over a kind, see [Index].
type field struct {
	name    string
	extract client.IndexerFunc
}

// declare adds a declaration.
func (d *declared) declare(p purpose, source string, object client.Object, options []KindOption) *declaration { //nolint:unparam // a watch sets its mapping
	added := declaration{purpose: p, object: object, source: source}
	for _, option := range options {
		option.applyToKind(&added)
	}
	d.declarations = append(d.declarations, added)
	return &d.declarations[len(d.declarations)-1]
}

// caller returns file:line of the code that called a builder method, the file relative to the root of the main module
// where it lies in it: the page must not depend on the machine that printed it.
func caller() string {
	const skip = 3 // this function, its caller and runtime.Callers itself
	pcs := make([]uintptr, 1)
	if runtime.Callers(skip, pcs) == 0 {
		return "unknown"
	}
	frame, _ := runtime.CallersFrames(pcs).Next()
	at := path.Join(importPath(frame.Function), path.Base(frame.File))
	if build, ok := debug.ReadBuildInfo(); ok {
		at = strings.TrimPrefix(at, "main/")
		if !strings.Contains(at, "/") {
			at = path.Join(build.Path, at)
		}
		at = strings.TrimPrefix(strings.TrimPrefix(at, build.Main.Path), "/")
	}
	return at + ":" + strconv.Itoa(frame.Line)
}

// importPath cuts the package out of the name of a function, such as "example.com/a/b.(*T).Method.func1".
func importPath(function string) string {
	slash := strings.LastIndex(function, "/") + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	return strings.TrimSuffix(function[:slash]+strings.ReplaceAll(name, "%2e", "."), "_test")
}
