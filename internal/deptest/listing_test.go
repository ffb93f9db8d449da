package deptest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const modulePath = "github.com/reconcilekit/reconcilekit"

// listed is the output of `go list` for one package.
type listed struct {
	ImportPath, Dir, Name     string
	Standard                  bool
	GoFiles, Imports, Deps    []string
	TestGoFiles, XTestGoFiles []string
	TestImports, XTestImports []string
}

// ours returns the path relative to the module, or false for other modules.
func ours(importPath string) (string, bool) {
	if importPath == modulePath {
		return ".", true
	}

	return strings.CutPrefix(importPath, modulePath+"/")
}

// root is the folder of the library module.
func root(t *testing.T) string {
	t.Helper()

	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}

	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatalf("the test must run inside the repository: %v", err)
	}

	return dir
}

// library lists the packages of the library module and their dependencies, once for all tests.
var library = sync.OnceValues(func() (map[string]listed, error) {
	return list(filepath.Join("..", ".."), "-deps", "./...")
})

func packages(t *testing.T) map[string]listed {
	t.Helper()

	found, err := library()
	if err != nil {
		t.Fatal(err)
	}

	return found
}

// list runs `go list -json` in a module and returns the packages by import path.
func list(dir string, args ...string) (map[string]listed, error) {
	if err := open(dir); err != nil {
		return nil, err
	}

	fields := "-json=ImportPath,Dir,Name,Standard,GoFiles,Imports,Deps,TestGoFiles,XTestGoFiles,TestImports,XTestImports"
	command := exec.Command("go", append([]string{"list", fields}, args...)...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off", "PWD="+dir)

	out, err := command.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = errors.New(string(failed.Stderr))
		}

		return nil, err
	}

	found := map[string]listed{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var one listed
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}

		found[one.ImportPath] = one
	}
}

// open reads the folders below dir, because Go's test cache tracks only the files that the test itself opens, not those
// that the go command opens.
func open(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != dir && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "bin") {
			return filepath.SkipDir
		}

		return err
	})
}
