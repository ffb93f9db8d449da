package health_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWordsOfVerdict: what package verdict exports has the same name here and stands for the same.
func TestWordsOfVerdict(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("verdict/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source of package verdict: %v", err)
	}
	want := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for name := range exported(t, file) {
			want[name] = "verdict." + name
		}
	}
	if diff := cmp.Diff(want, exported(t, "verdict.go")); diff != "" {
		t.Errorf("names and what they stand for: -want +got\n%s", diff)
	}
}

// exported maps the exported names of a file, without methods, to `package.Name` that they stand for; empty for any other meaning.
func exported(t *testing.T, file string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, decl := range parsed.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = forwarded(d)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = ""
					if s.Assign.IsValid() {
						names[s.Name.Name] = selected(s.Type)
					}
				case *ast.ValueSpec:
					for i, name := range s.Names {
						names[name.Name] = ""
						if i < len(s.Values) {
							names[name.Name] = selected(s.Values[i])
						}
					}
				}
			}
		}
	}
	for name := range names {
		if !ast.IsExported(name) {
			delete(names, name)
		}
	}
	return names
}

// forwarded is the function that the only statement of a function calls with its parameters, in their order.
func forwarded(f *ast.FuncDecl) string {
	if len(f.Body.List) != 1 {
		return ""
	}
	result, ok := f.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(result.Results) != 1 {
		return ""
	}
	call, ok := result.Results[0].(*ast.CallExpr)
	if !ok {
		return ""
	}
	var parameters []string
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			parameters = append(parameters, name.Name)
		}
	}
	if len(call.Args) != len(parameters) {
		return ""
	}
	for i, argument := range call.Args {
		if name, ok := argument.(*ast.Ident); !ok || name.Name != parameters[i] {
			return ""
		}
	}
	return selected(call.Fun)
}

func selected(expression ast.Expr) string {
	if s, ok := expression.(*ast.SelectorExpr); ok {
		if pkg, ok := s.X.(*ast.Ident); ok {
			return pkg.Name + "." + s.Sel.Name
		}
	}
	return ""
}
