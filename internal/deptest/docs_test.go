package deptest_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryPackageIsDocumented checks that each package has a package comment in doc.go, and that the examples of public packages
// compile in another module.
func TestEveryPackageIsDocumented(t *testing.T) {
	t.Parallel()

	for path, pkg := range packages(t) {
		name, mine := ours(path)
		if !mine {
			continue
		}

		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if !slices.Contains(pkg.GoFiles, "doc.go") {
				t.Fatalf("%s has no doc.go", name)
			}

			checkPackageComment(t, pkg)

			for _, file := range slices.Concat(pkg.TestGoFiles, pkg.XTestGoFiles) {
				checkOutside(t, pkg, file, parse(t, filepath.Join(pkg.Dir, file)))
			}
		})
	}
}

// checkPackageComment checks that the only package comment is in doc.go.
func checkPackageComment(t *testing.T, pkg listed) {
	t.Helper()

	begin := "Package " + pkg.Name + " "
	if pkg.Name == "main" {
		begin = "Command " + filepath.Base(pkg.Dir) + " "
	}

	for _, name := range pkg.GoFiles {
		comment := strings.TrimSpace(parse(t, filepath.Join(pkg.Dir, name)).Doc.Text())

		switch {
		case name != "doc.go" && comment != "":
			t.Errorf("%s: move the package comment to doc.go", name)
		case name == "doc.go" && !strings.HasPrefix(comment, begin):
			t.Errorf("doc.go: want a package comment that begins with %q, got %q", begin, firstLine(comment))
		}
	}
}

// checkOutside checks that the examples of a public package import no internal package, which users could not import.
func checkOutside(t *testing.T, pkg listed, name string, file *ast.File) {
	t.Helper()

	if strings.Contains(pkg.ImportPath, "/internal/") || len(doc.Examples(file)) == 0 {
		return
	}

	for _, spec := range file.Imports {
		if strings.Contains(spec.Path.Value, "/internal/") {
			t.Errorf("%s has examples and imports %s, which users cannot import", name, spec.Path.Value)
		}
	}
}

func parse(t *testing.T, path string) *ast.File {
	t.Helper()

	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}

	return file
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")

	return line
}
