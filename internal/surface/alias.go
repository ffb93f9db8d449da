package surface

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Shown returns the source of a file in which the comment of each type that is another name for one of an internal package ends with the
// declaration of that one, its fields and methods, because neither go doc nor pkg.go.dev shows what an alias stands for. Module is the
// path of the module whose folder is root.
func Shown(root, module, file string) ([]byte, error) {
	source, err := os.ReadFile(file) //nolint:gosec // a file of the module
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	s := shower{root: root, module: module, names: map[string]string{}}
	aliases := s.aliases(parsed)
	for i := range aliases { // the last one first, so that places in the file stay true
		a := aliases[len(aliases)-1-i]
		lines, err := s.declaration(a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.spec.Name.Name, err)
		}
		from, to := fset.Position(a.comment.Pos()).Offset, fset.Position(a.comment.End()).Offset
		source = slices.Concat(source[:from], renewed(string(source[from:to]), lines), source[to:])
	}
	return format.Source(source)
}

// alias is a type of an internal package under a name of its own.
type alias struct {
	spec    *ast.TypeSpec
	comment *ast.CommentGroup
	folder  string // of the internal package
	name    string // in that package
}

type shower struct {
	root, module string
	names        map[string]string // what the file calls types of internal packages, by package and name
}

// aliases are those of the file that have a comment, in its order.
func (s shower) aliases(file *ast.File) (found []alias) {
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE {
			continue
		}
		for _, spec := range d.Specs {
			t, _ := spec.(*ast.TypeSpec)
			of, ok := generic(t.Type).(*ast.SelectorExpr)
			if !ok || !t.Assign.IsValid() || !t.Name.IsExported() {
				continue
			}
			a := alias{spec: t, comment: t.Doc, folder: s.folder(file, of), name: of.Sel.Name}
			if a.comment == nil {
				a.comment = d.Doc
			}
			if a.folder == "" || a.comment == nil {
				continue
			}
			s.names[path.Base(filepath.ToSlash(a.folder))+"."+a.name] = t.Name.Name
			found = append(found, a)
		}
	}
	return found
}

// generic is a type without its arguments.
func generic(of ast.Expr) ast.Expr {
	switch t := of.(type) {
	case *ast.IndexExpr:
		return t.X
	case *ast.IndexListExpr:
		return t.X
	}
	return of
}

// folder is that of the internal package of this module that the selector names, empty for others.
func (s shower) folder(file *ast.File, of *ast.SelectorExpr) string {
	name, ok := of.X.(*ast.Ident)
	if !ok {
		return ""
	}
	for _, imported := range file.Imports {
		at := strings.Trim(imported.Path.Value, `"`)
		called := path.Base(at)
		if imported.Name != nil {
			called = imported.Name.Name
		}
		if below, ours := strings.CutPrefix(at, s.module+"/"); ours && called == name.Name && strings.Contains("/"+below+"/", "/internal/") {
			return filepath.Join(s.root, filepath.FromSlash(below))
		}
	}
	return ""
}

// declaration has the lines of the type and of its exported methods, as go doc prints them.
func (s shower) declaration(a alias) ([]string, error) {
	fset := token.NewFileSet()
	l := lister{fset: fset}
	files, err := l.parse(a.folder)
	if err != nil {
		return nil, err
	}
	p, err := doc.NewFromFiles(fset, files, a.folder)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", a.folder, err)
	}
	at := slices.IndexFunc(p.Types, func(t *doc.Type) bool { return t.Name == a.name })
	if at < 0 {
		return nil, fmt.Errorf("not declared in %s", a.folder)
	}
	t := p.Types[at]
	t.Decl.Doc = nil
	out, err := s.print(fset, t.Decl)
	for _, m := range t.Methods {
		text, failed := s.print(fset, m.Decl)
		for line := range strings.Lines(m.Doc) {
			text = slices.Insert(text, len(text)-1, strings.TrimRight("// "+line, " \n"))
		}
		out, err = slices.Concat(out, []string{""}, text), errors.Join(err, failed)
	}
	return out, err
}

// print returns the lines of a declaration, in which types have the names of the file.
func (s shower) print(fset *token.FileSet, node ast.Node) ([]string, error) {
	var b bytes.Buffer
	if err := (&printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}).Fprint(&b, fset, node); err != nil {
		return nil, fmt.Errorf("print: %w", err)
	}
	text := qualified.ReplaceAllStringFunc(b.String(), func(name string) string {
		if here, known := s.names[name]; known {
			return here
		}
		return name
	})
	return strings.Split(text, "\n"), nil
}

var qualified = regexp.MustCompile(`\b[a-z]\w*\.[A-Z]\w*`) //nolint:gochecknoglobals // a constant

// renewed is a comment in which the declaration takes the place of the one at its end, if there is one.
func renewed(comment string, declaration []string) []byte {
	lines := strings.Split(comment, "\n")
	for i, line := range lines {
		if text := strings.TrimLeft(line, "\t"); strings.HasPrefix(text, "//\ttype ") {
			lines = lines[:i-1]
			break
		}
	}
	lines = append(lines, "//")
	for _, line := range declaration {
		if line == "" {
			lines = append(lines, "//")
			continue
		}
		lines = append(lines, "//\t"+line)
	}
	return []byte(strings.Join(lines, "\n"))
}
