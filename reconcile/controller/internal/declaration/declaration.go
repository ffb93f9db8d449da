package declaration

import (
	"path"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/reconcilekit/reconcilekit/health"
)

// Purpose is the use of a kind that a controller declares.
type Purpose string

const (
	PurposeFor         Purpose = "For"
	PurposeOwns        Purpose = "Owns"
	PurposeWrites      Purpose = "Writes"
	PurposeShares      Purpose = "Writes, NeverDeletes"
	PurposeContributes Purpose = "Writes, FieldsOnly"
	PurposeReads       Purpose = "Reads"
	PurposeWatches     Purpose = "Watches"
	PurposeRetired     Purpose = "Owns, Retired"
)

// method returns the builder method that declares the purpose, and the option that follows the kind in the call.
func (p Purpose) method() (method, option string) {
	method, option, _ = strings.Cut(string(p), ", ")
	return method, option
}

// Call returns the declaration of the kind as Go code.
func (p Purpose) Call(object string) string {
	method, option := p.method()
	if option != "" {
		object += ", controller." + option
	}
	return method + "(" + object + ")"
}

// Declaration is one kind in one call of a builder method, with its options.
type Declaration struct {
	Purpose    Purpose
	Object     client.Object
	Source     string // file:line of the call
	Mapping    handler.MapFunc
	Predicates []predicate.Predicate
	Filter     *Filter
	Where      []Condition // of owners
	Indexes    []Field
	Derives    []Derivation
	Optional   bool
	Sparse     Sparseness
	Resource   string
	Inspect    func(client.Object) health.Component // of children; nil is the inspector of the kind
	Misused    []string                             // options that do not fit the purpose
	Broken     error                                // an option whose value is wrong
}

// Field is an index of a kind, see [Index].
type Field struct {
	Name       string
	Extract    client.IndexerFunc
	OnMetadata bool // the function reads only metadata
}

// Sparseness is the declared form in which the cache keeps objects of the kind that belong to others.
type Sparseness int

const (
	SparseByDefault Sparseness = iota // the default of the kind
	SparseNever                       // kept in full
	SparseAlways                      // only their metadata is kept, unless they are read
)

// Derivation is a value that is computed from objects of a kind.
type Derivation struct {
	Name string
	List client.ObjectList // an empty list of the kind
	Of   any               // the Derivation of the author, which identifies its reads
}

// Caller returns file:line of the code that called a builder method. The file is relative to the root of the main module if it is
// inside it, because the page must not depend on the machine that printed it.
func Caller() string {
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

// importPath returns the package from the name of a function, such as "example.com/a/b.(*T).Method.func1".
func importPath(function string) string {
	slash := strings.LastIndex(function, "/") + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	return strings.TrimSuffix(function[:slash]+strings.ReplaceAll(name, "%2e", "."), "_test")
}
