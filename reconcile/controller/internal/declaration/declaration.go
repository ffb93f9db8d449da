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

// Purpose is what a controller declares to do with a kind.
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

// method is the method of the builder that declares the purpose, and option what stands beside the kind then.
func (p Purpose) method() (method, option string) {
	method, option, _ = strings.Cut(string(p), ", ")
	return method, option
}

// Call is the declaration of the kind as Go code.
func (p Purpose) Call(object string) string {
	method, option := p.method()
	if option != "" {
		object += ", controller." + option
	}
	return method + "(" + object + ")"
}

// Declaration is one kind named in one call of a builder method, with what stands beside it.
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
	Inspect    func(client.Object) health.Component // of children, nil is that of the kind
	Misused    []string                             // options that do not fit the purpose
	Broken     error                                // an option whose value is wrong
}

// Field is an index over a kind, see [Index].
type Field struct {
	Name       string
	Extract    client.IndexerFunc
	OnMetadata bool // the function looks at metadata alone
}

// Sparseness is what was said beside a kind about what the cache keeps of objects of others.
type Sparseness int

const (
	SparseByDefault Sparseness = iota // as is usual for the kind
	SparseNever                       // they are kept whole
	SparseAlways                      // only their metadata is kept, unless they are read
)

// Derivation is a value that is computed from objects of a kind.
type Derivation struct {
	Name string
	List client.ObjectList // an empty one of the kind
	Of   any               // the Derivation of the author, by which its reads are known
}

// Caller returns file:line of the code that called a builder method, the file relative to the root of the main module
// where it lies in it: the page must not depend on the machine that printed it.
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

// importPath cuts the package out of the name of a function, such as "example.com/a/b.(*T).Method.func1".
func importPath(function string) string {
	slash := strings.LastIndex(function, "/") + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	return strings.TrimSuffix(function[:slash]+strings.ReplaceAll(name, "%2e", "."), "_test")
}
