package surface

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Of returns the exported names of the package in the folder, sorted, each with
// its signature: no parameter names and no comments, which may change freely.
// Test files are left out. What is another name for something of an internal
// package of the module is listed as if it were declared in the folder.
func Of(folder string) ([]string, error) {
	l := lister{fset: token.NewFileSet(), folder: folder}
	l.inModule()
	files, err := l.parse(folder)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := l.enter(file); err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			l.decl(decl)
		}
	}
	slices.Sort(l.lines)
	return slices.Compact(l.lines), nil
}

// Packages returns the folders below root that hold a package which others can
// import, relative to root and sorted. Modules of their own are left out.
func Packages(root string) ([]string, error) {
	var folders []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && hidden(path):
			return filepath.SkipDir
		case entry.IsDir() || entry.Name() != "doc.go":
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		folders = append(folders, folder)
		return err
	})
	slices.Sort(folders)
	return folders, err
}

// hidden reports whether nothing in the folder can be imported from outside.
func hidden(folder string) bool {
	name := filepath.Base(folder)
	if name == "internal" || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	module, err := filepath.Glob(filepath.Join(folder, "go.mod"))
	return err == nil && len(module) > 0
}

type lister struct {
	fset   *token.FileSet
	folder string
	root   string                 // of the module that the folder is in
	module string                 // its path
	inner  map[string][]*ast.File // the internal packages that the current file imports, by name
	lines  []string

	qualifiers []*regexp.Regexp // names of the internal packages before names of theirs, which are left out
}

func (l *lister) add(format string, args ...any) {
	line := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	for _, name := range l.qualifiers {
		line = name.ReplaceAllString(line, "$1")
	}
	l.lines = append(l.lines, line)
}

func (l *lister) decl(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		l.function(d)
	case *ast.GenDecl:
		var constType ast.Expr
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				l.typeSpec(s)
			case *ast.ValueSpec:
				if s.Type != nil || len(s.Values) > 0 {
					constType = s.Type
				}
				l.values(d.Tok, s, constType)
			}
		}
	}
}

func (l *lister) function(d *ast.FuncDecl) {
	if !d.Name.IsExported() {
		return
	}
	if d.Recv == nil {
		l.add("func %s%s", d.Name.Name, l.signature(d.Type))
		return
	}
	receiver := l.text(d.Recv.List[0].Type)
	if ast.IsExported(strings.TrimLeft(receiver, "*")) {
		l.add("method (%s) %s%s", receiver, d.Name.Name, l.signature(d.Type))
	}
}

// values adds constants and variables. The value of a constant that is written
// as one is part of the promise: annotations and reasons are persisted.
func (l *lister) values(tok token.Token, s *ast.ValueSpec, typ ast.Expr) {
	for i, name := range s.Names {
		if !name.IsExported() {
			continue
		}
		line := tok.String() + " " + name.Name
		if typ != nil {
			line += " " + l.text(typ)
		}
		if i < len(s.Values) && tok == token.CONST {
			if value := l.literal(s.Values[i]); value != nil {
				line += " = " + l.text(value)
			}
		}
		l.add("%s", line)
	}
}

func (l *lister) typeSpec(s *ast.TypeSpec) {
	if !s.Name.IsExported() {
		return
	}
	name := s.Name.Name
	if s.TypeParams != nil {
		name += "[" + l.fields(s.TypeParams, true) + "]"
	}
	if s.Assign.IsValid() {
		if l.alias(s.Type, s.Name.Name) {
			return
		}
		l.add("type %s = %s", name, l.text(s.Type))
		return
	}
	switch t := s.Type.(type) {
	case *ast.StructType:
		l.add("type %s struct", name)
		l.members(s.Name.Name, t.Fields)
	case *ast.InterfaceType:
		l.add("type %s interface", name)
		l.members(s.Name.Name, t.Methods)
	default:
		l.add("type %s %s", name, l.text(t))
	}
}

// members adds the exported fields of a struct or methods of an interface, and
// what it embeds.
func (l *lister) members(of string, list *ast.FieldList) {
	for _, field := range list.List {
		if len(field.Names) == 0 {
			l.add("type %s embeds %s", of, l.text(field.Type))
		}
		for _, name := range field.Names {
			switch f, method := field.Type.(*ast.FuncType); {
			case !name.IsExported():
			case method && f.Func == token.NoPos:
				l.add("type %s has %s%s", of, name.Name, l.signature(f))
			default:
				l.add("type %s has %s %s", of, name.Name, l.text(field.Type))
			}
		}
	}
}

func (l *lister) signature(f *ast.FuncType) string {
	text := "(" + l.fields(f.Params, false) + ")"
	if f.TypeParams != nil {
		text = "[" + l.fields(f.TypeParams, true) + "]" + text
	}
	switch results := l.fields(f.Results, false); {
	case results == "":
		return text
	case f.Results.NumFields() > 1:
		return text + " (" + results + ")"
	default:
		return text + " " + results
	}
}

// fields prints a list of parameters, each as its type alone unless named.
func (l *lister) fields(list *ast.FieldList, named bool) string {
	if list == nil {
		return ""
	}
	var texts []string
	for _, field := range list.List {
		text := l.text(field.Type)
		for i := range max(1, len(field.Names)) {
			if named {
				texts = append(texts, field.Names[i].Name+" "+text)
			} else {
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, ", ")
}

func (l *lister) text(node ast.Node) string {
	if f, ok := node.(*ast.FuncType); ok {
		return "func" + l.signature(f)
	}
	var b bytes.Buffer
	if err := printer.Fprint(&b, l.fset, node); err != nil {
		return err.Error()
	}
	return b.String()
}
