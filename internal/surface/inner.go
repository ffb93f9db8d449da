package surface

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// parse reads the files of a package, without its tests.
func (l *lister) parse(folder string) ([]*ast.File, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(l.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse: %w", err)
		}
		files = append(files, file)
	}
	return files, nil
}

// enter reads the internal packages that a file imports, and those that they import.
func (l *lister) enter(file *ast.File) error {
	l.inner, l.qualifiers = map[string][]*ast.File{}, nil
	for _, imported := range file.Imports { // a public package keeps its name
		if path := strings.Trim(imported.Path.Value, `"`); imported.Name == nil && l.internal(path) == "" {
			l.inner[filepath.Base(path)] = []*ast.File{}
		}
	}
	return l.imports(file)
}

func (l *lister) imports(file *ast.File) error {
	for _, imported := range file.Imports {
		path := strings.Trim(imported.Path.Value, `"`)
		folder, name := l.internal(path), filepath.Base(path)
		if imported.Name != nil {
			name = imported.Name.Name
		}
		if folder == "" || l.inner[name] != nil {
			continue
		}
		files, err := l.parse(folder)
		if err != nil {
			return err
		}
		l.inner[name] = files
		l.qualifiers = append(l.qualifiers, regexp.MustCompile(`\b`+name+`\.([A-Z])`))
		for _, file := range files {
			if err := l.imports(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// internal is the folder of an internal package, empty for other packages. Those beside the folder, and above it, are known where the
// folder is in a module.
func (l *lister) internal(path string) string {
	if _, below, found := strings.Cut(path, "/"+filepath.Base(l.folder)+"/internal/"); found {
		return filepath.Join(l.folder, "internal", filepath.FromSlash(below))
	}
	if below, found := strings.CutPrefix(path, l.module+"/"); found && l.module != "" && strings.Contains("/"+below+"/", "/internal/") {
		return filepath.Join(l.root, filepath.FromSlash(below))
	}
	return ""
}

// inModule finds the module that the folder is in, if it is in one.
func (l *lister) inModule() {
	folder, err := filepath.Abs(l.folder)
	for parent := filepath.Dir(folder); err == nil && folder != parent; folder, parent = parent, filepath.Dir(parent) {
		text, missing := os.ReadFile(filepath.Join(folder, "go.mod")) //nolint:gosec // a file of the module
		if missing != nil {
			continue
		}
		if line := regexp.MustCompile(`(?m)^module (\S+)`).FindSubmatch(text); line != nil {
			l.root, l.module = folder, string(line[1])
		}
		return
	}
}

// alias lists a type of an internal package with its members and methods, and reports whether it is one. It has the same
// name there and here.
func (l *lister) alias(of ast.Expr, name string) bool {
	selector, ok := generic(of).(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != name {
		return false
	}
	found := false
	for _, decl := range l.declarations(selector) {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				continue
			}
			if receiver, _, _ := strings.Cut(strings.TrimLeft(l.text(d.Recv.List[0].Type), "*"), "["); receiver == name {
				l.function(d)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok && s.Name.Name == name {
					l.typeSpec(s)
					found = true
				}
			}
		}
	}
	return found
}

// literal is the value of a constant that is written as one, here or in an internal package; nil is none.
func (l *lister) literal(value ast.Expr) ast.Expr {
	switch v := value.(type) {
	case *ast.BasicLit:
		return v
	case *ast.SelectorExpr:
		for _, decl := range l.declarations(v) {
			if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.CONST {
				if found := literalOf(d, v.Sel.Name); found != nil {
					return found
				}
			}
		}
	}
	return nil
}

func literalOf(d *ast.GenDecl, name string) ast.Expr {
	for _, spec := range d.Specs {
		s, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for i, n := range s.Names {
			if n.Name != name || i >= len(s.Values) {
				continue
			}
			if literal, ok := s.Values[i].(*ast.BasicLit); ok {
				return literal
			}
		}
	}
	return nil
}

// declarations are those of the internal package that a selector speaks of.
func (l *lister) declarations(selector *ast.SelectorExpr) []ast.Decl {
	name, ok := selector.X.(*ast.Ident)
	if !ok {
		return nil
	}
	var out []ast.Decl
	for _, file := range l.inner[name.Name] {
		out = append(out, file.Decls...)
	}
	return out
}
