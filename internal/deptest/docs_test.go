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

// TestEveryPackageIsDocumented: a package comment in doc.go, and for what users
// import an example whose output is checked.
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

			if name != "." && !strings.HasPrefix(name, "internal/") {
				checkExamples(t, pkg)
			}
		})
	}
}

// checkPackageComment wants one package comment, in doc.go.
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
			t.Errorf("%s: the package comment belongs into doc.go", name)
		case name == "doc.go" && !strings.HasPrefix(comment, begin):
			t.Errorf("doc.go: want a package comment that begins with %q, got %q", begin, firstLine(comment))
		}
	}
}

// checkOutside wants that the examples of a file compile in a program of somebody else: an example of what users import does not
// import what they cannot.
func checkOutside(t *testing.T, pkg listed, name string, file *ast.File) {
	t.Helper()

	if strings.Contains(pkg.ImportPath, "/internal/") || len(doc.Examples(file)) == 0 {
		return
	}

	for _, spec := range file.Imports {
		if strings.Contains(spec.Path.Value, "/internal/") {
			t.Errorf("%s has examples, and imports %s: nobody else can", name, spec.Path.Value)
		}
	}
}

// checkExamples wants at least one example that go test executes.
func checkExamples(t *testing.T, pkg listed) {
	t.Helper()

	var files []*ast.File
	for _, name := range slices.Concat(pkg.TestGoFiles, pkg.XTestGoFiles) {
		file := parse(t, filepath.Join(pkg.Dir, name))
		files = append(files, file)
		checkOutside(t, pkg, name, file)
	}

	executed := 0

	for _, example := range doc.Examples(files...) {
		if example.Output != "" || example.EmptyOutput {
			executed++

			continue
		}

		// What the test kit gives needs a test and an API server around it.
		if pkg.ImportPath != modulePath+"/reconcile/reconciletest" {
			t.Errorf("Example%s is compiled but never run: give it an // Output: comment", example.Name)
		}
	}

	if executed == 0 {
		t.Error("the package has no example that runs, see https://go.dev/blog/examples")
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
