package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// errNoFiles reports that there was no file to check.
var errNoFiles = errors.New("no Go file to check")

// Boundary fails the test for each place in the Go files of a folder and its subfolders that bypasses the SDK; see [Offenders]. Use it
// for the folder of an operator:
//
//	func TestOnlyTheSDKWrites(t *testing.T) { lint.Boundary(t, ".", "standin") }
func Boundary(t testing.TB, folder string, except ...string) {
	t.Helper()
	offenders, err := Offenders(os.DirFS(folder), except...)
	if err != nil {
		t.Fatal(err)
	}
	for _, offender := range offenders {
		t.Error(offender)
	}
}

// Offenders lists, as "file:line: what", places in Go files that import controller-runtime's builder, handler or controllerutil, or that
// use a writing method of a client. An operator should handle children, statuses, watches and finalizers only with the SDK. Tests are
// skipped, and so are the excepted files and folders, such as a program that simulates another controller in a demo.
//
// It examines the syntax, without types. Create, Update, Patch and DeleteAllOf count on any value, called or not. Apply and Delete, which
// plans also have, count if their first argument is a context, except for Apply of a value named engine, as in reconcile/apply. Status
// without an argument and SubResource count, because their results write. A file that cannot be parsed and a folder without Go files are
// errors.
func Offenders(fsys fs.FS, except ...string) ([]string, error) {
	var found []string
	files := 0
	err := fs.WalkDir(fsys, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(except, path) && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || slices.Contains(except, path):
			return nil
		}
		files++
		text, err := fs.ReadFile(fsys, path)
		if err != nil {
			return err
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, path, text, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse: %w", err)
		}
		look(file, func(at token.Pos, what string) {
			found = append(found, fmt.Sprintf("%s:%d: %s", path, positions.Position(at).Line, what))
		})
		return nil
	})
	if err == nil && files == 0 {
		err = errNoFiles
	}
	return found, err
}

// look reports the places in a file.
func look(file *ast.File, tell func(at token.Pos, what string)) {
	imported := map[string]bool{} // names of packages, whose functions are not methods
	for _, one := range file.Imports {
		path, _ := strconv.Unquote(one.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		if one.Name != nil {
			name = one.Name.Name
		}
		imported[name] = true
		for _, around := range []string{"builder", "handler", "controller/controllerutil"} {
			if path == "sigs.k8s.io/controller-runtime/pkg/"+around {
				tell(one.Pos(), "imports "+path)
			}
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && imported[of.Name] {
				return true
			}
			if slices.Contains([]string{"Create", "Update", "Patch", "DeleteAllOf", "SubResource"}, n.Sel.Name) {
				tell(n.Pos(), "uses "+n.Sel.Name)
			}
		case *ast.CallExpr:
			method, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			name, sends := method.Sel.Name, len(n.Args) > 0 && isContext(n.Args[0])
			if name == "Status" && len(n.Args) == 0 || name == "Delete" && sends || name == "Apply" && sends && !named(method.X, "engine") {
				tell(n.Pos(), "uses "+name)
			}
		}
		return true
	})
}

// isContext reports whether an argument is a context by its name: ctx, or a call that returns one.
func isContext(argument ast.Expr) bool {
	call, ok := argument.(*ast.CallExpr)
	if !ok {
		return named(argument, "ctx")
	}
	called, ok := call.Fun.(*ast.SelectorExpr)
	return ok && (called.Sel.Name == "Context" || named(called.X, "context"))
}

// named reports whether an expression is a variable or field with the suffix.
func named(expression ast.Expr, suffix string) bool {
	name := ""
	switch e := expression.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	}
	return strings.HasSuffix(strings.ToLower(name), suffix)
}
