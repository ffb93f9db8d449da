package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
)

// TestOnlyTheSDKWrites checks that only the library writes children and statuses and registers watches and finalizers.
func TestOnlyTheSDKWrites(t *testing.T) {
	t.Parallel()
	lint.Boundary(t, ".", "standin")
}

// TestNoMappingFunction checks that every watch is derived from a read of a phase or a child of the plan, and that no
// file maps events to owners by hand.
func TestNoMappingFunction(t *testing.T) {
	t.Parallel()
	mappings := []string{"Watches", "WatchesSource", "WatchesRawSource", "EnqueueRequestsFromMapFunc", "MapFunc"}
	reads := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if ok && slices.Contains(mappings, selector.Sel.Name) {
				t.Errorf("%s: %s", files.Position(selector.Pos()), selector.Sel.Name)
			}
			if ok && selector.Sel.Name == "Reads" {
				reads++
			}
			return true
		})
		return nil
	})
	if err != nil || reads == 0 {
		t.Errorf("found %d declarations of reads: %v", reads, err)
	}
}
