package pipeline

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// phaseSignature returns the signature of the only method of an interface.
func phaseSignature[I any]() reflect.Type { return reflect.TypeFor[I]().Method(0).Type }

// signatureOf returns the type of a function without results.
func signatureOf(in ...reflect.Type) reflect.Type { return reflect.FuncOf(in, nil, false) }

// checkSignatures compares the methods of a type with the expected ones, by name. It does not compare a nil signature. The
// type may lack expected methods.
func checkSignatures(of reflect.Type, expected map[string]reflect.Type) (errs []error) {
	all := methodsOf(of)
	for _, phase := range slices.Sorted(maps.Keys(expected)) {
		method, found := all.MethodByName(phase)
		switch {
		case expected[phase] == nil:
		case !found:
			errs = append(errs, misspelt(of, all, phase, expected[phase])...)
		case bare(all, method) != expected[phase]:
			errs = append(errs, fmt.Errorf("%s has a method %s that is not the phase: have %s, want %s",
				nameOfType(of), phase, printSignature(phase, bare(all, method)), printSignature(phase, expected[phase])))
		case all != of && !hasMethod(of, phase):
			errs = append(errs, fmt.Errorf("method %s of %s has a pointer receiver: use *%s", phase, nameOfType(of), nameOfType(of)))
		}
	}
	return errs
}

// hasSignature reports whether a type, or a pointer to it, has a method of that name and signature.
func hasSignature(of reflect.Type, method string, expected reflect.Type) bool {
	all := methodsOf(of)
	found, ok := all.MethodByName(method)
	return ok && bare(all, found) == expected
}

// methodsOf returns the type that has the methods of the value and of the pointer.
func methodsOf(of reflect.Type) reflect.Type {
	if of.Kind() == reflect.Pointer || of.Kind() == reflect.Interface {
		return of
	}
	return reflect.PointerTo(of)
}

func hasMethod(of reflect.Type, method string) bool {
	_, found := of.MethodByName(method)
	return found
}

// misspelt returns errors for methods whose names resemble that of a missing phase. It ignores methods without parameters, because every
// phase has some.
func misspelt(of, all reflect.Type, phase string, expected reflect.Type) (errs []error) {
	for method := range all.Methods() {
		if have := bare(all, method); have.NumIn() > 0 && near(method.Name, phase) {
			errs = append(errs, fmt.Errorf("method %s of %s looks like the phase %s under another name: have %s, want %s; rename it",
				method.Name, nameOfType(of), phase, printSignature(method.Name, have), printSignature(phase, expected)))
		}
	}
	return errs
}

// bare returns the type of a method without its receiver.
func bare(of reflect.Type, method reflect.Method) reflect.Type {
	if of.Kind() == reflect.Interface {
		return method.Type
	}
	var in, out []reflect.Type
	for i := 1; i < method.Type.NumIn(); i++ {
		in = append(in, method.Type.In(i))
	}
	for out0 := range method.Type.Outs() {
		out = append(out, out0)
	}
	return reflect.FuncOf(in, out, method.Type.IsVariadic())
}

// near reports whether the name of a method matches that of a phase except for typing errors: ignoring case, at most one insertion, removal
// or change of a letter for each five letters of the name.
func near(method, phase string) bool {
	a, b := strings.ToLower(method), strings.ToLower(phase)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)] <= len(b)/lettersPerTypo
}

// printSignature formats a signature as Go source.
func printSignature(method string, signature reflect.Type) string {
	return method + strings.TrimPrefix(nameOfType(signature), "func")
}

const lettersPerTypo = 5

// paths matches package paths in the names of instantiated types; aliased matches types that authors use by another name.
var (
	paths   = regexp.MustCompile(`[\w.~-]+/(?:[\w.~-]+/)*`)
	aliased = regexp.MustCompile(`\b(?:apply\.Plan|verdict\.Component)\b`)
)

// nameOfType returns the name of a type, with the last element of each package's path.
func nameOfType(t reflect.Type) string {
	return aliased.ReplaceAllStringFunc(paths.ReplaceAllString(t.String(), ""), func(alias string) string {
		if alias == "apply.Plan" {
			return "reconcile.PlanResult"
		}
		return "health.Component"
	})
}
