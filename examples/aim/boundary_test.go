package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestOnlyTheSDKWrites: children, statuses, watches and finalizers go through the SDK
// alone. No file of the operator imports what would go around it, or calls a method of
// a client that writes. The stand-in is no part of the operator.
func TestOnlyTheSDKWrites(t *testing.T) {
	t.Parallel()
	forbidden := []string{"pkg/builder", "pkg/handler", "pkg/controller/controllerutil"}
	writes := []string{"Create", "Update", "Patch", "DeleteAllOf", "Status", "SubResource"}
	files := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "standin") {
			return err
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, imported := range file.Imports {
			name, _ := strconv.Unquote(imported.Path.Value)
			if slices.ContainsFunc(forbidden, func(suffix string) bool { return strings.HasSuffix(name, "controller-runtime/"+suffix) }) {
				t.Errorf("%s imports %s", path, name)
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if ok && slices.Contains(writes, method.Sel.Name) && !isBuilder(call) {
				t.Errorf("%s calls %s", path, method.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil || files < 20 {
		t.Errorf("looked at %d files: %v", files, err)
	}
}

// isBuilder says whether a call is the builder's Status, which takes a decorator and
// writes nothing.
func isBuilder(call *ast.CallExpr) bool {
	if len(call.Args) != 1 {
		return false
	}
	inner, ok := call.Args[0].(*ast.CallExpr)
	if !ok {
		return false
	}
	function, ok := inner.Fun.(*ast.SelectorExpr)
	return ok && function.Sel.Name == "Decorate"
}
