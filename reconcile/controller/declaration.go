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

// purpose is what a controller declares to do with a kind. The values are the names of the builder's methods.
type purpose string

const (
	purposeFor         purpose = "For"
	purposeOwns        purpose = "Owns"
	purposeWrites      purpose = "Writes"
	purposeShares      purpose = "Shares"
	purposeContributes purpose = "Contributes"
	purposeReads       purpose = "Reads"
	purposeWatches     purpose = "Watches"
	purposeOptional    purpose = "Optional"
	purposeRetired     purpose = "Retired"
)

// declaration is one kind named in one call of a builder method.
type declaration struct {
	purpose    purpose
	object     client.Object
	source     string // file:line of the call
	mapping    handler.MapFunc
	predicates []predicate.Predicate
}

// filter restricts the cache of a kind.
type filter struct {
	object client.Object
	labels labels.Selector
}

// when restricts the events of a kind, see Builder.When.
type when struct {
	object     client.Object
	predicates []predicate.Predicate
}

// field is an index over a kind, see Builder.IndexField.
type field struct {
	object  client.Object
	name    string
	extract client.IndexerFunc
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
