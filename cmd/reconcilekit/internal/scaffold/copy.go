package scaffold

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// declaration is a top-level declaration of a Go package.
type declaration struct {
	file string
	// names are the declared names. The name of a method is that of its type, a dot and its own.
	names []string
	// text is the source with the comments before it.
	text string
	// start is the offset of the declaration in its file, without its comments.
	start int
	// uses are the identifiers that may be declared in the same package.
	uses map[string]bool
	// packages are the names before the dot of selectors.
	packages map[string]bool
	// types means that the declaration declares types, in which each selector starts with a package.
	types bool
	// imports are those of the file.
	imports []*ast.ImportSpec
}

func (d declaration) declares(name string) bool { return slices.Contains(d.names, name) }

// declarations parses the files of a package without tests and generated files.
func declarations(files Files, folder string) (found []declaration, _ error) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		base := path.Base(name)
		if path.Dir(name) != folder || path.Ext(name) != ".go" || strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "zz_generated") {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, name, files[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		text, done := files[name], lineEnd(files[name], set.Position(parsed.Name.End()).Offset)
		for _, decl := range parsed.Decls {
			end := lineEnd(text, set.Position(decl.End()).Offset)
			if general, ok := decl.(*ast.GenDecl); !ok || general.Tok != token.IMPORT {
				d := declaration{file: name, text: text[done:end], start: set.Position(decl.Pos()).Offset, imports: parsed.Imports}
				d.inspect(decl)
				found = append(found, d)
			}
			done = end
		}
	}
	return found, nil
}

// lineEnd returns the offset after the line with the offset.
func lineEnd(text string, offset int) int {
	if length := strings.Index(text[offset:], "\n"); length >= 0 {
		return offset + length + 1
	}
	return len(text)
}

// inspect finds the names that the declaration declares and uses.
func (d *declaration) inspect(decl ast.Decl) {
	d.uses, d.packages = map[string]bool{}, map[string]bool{}
	switch decl := decl.(type) {
	case *ast.GenDecl:
		d.types = decl.Tok == token.TYPE
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				d.names = append(d.names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					d.names = append(d.names, name.Name)
				}
			}
		}
	case *ast.FuncDecl:
		name := decl.Name.Name
		if decl.Recv != nil {
			name = receiver(decl.Recv) + "." + name
		}
		d.names = []string{name}
	}
	ast.Inspect(decl, d.use)
}

func (d *declaration) use(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.Field: // its name is no use
		ast.Inspect(node.Type, d.use)
		return false
	case *ast.SelectorExpr:
		if name, ok := node.X.(*ast.Ident); ok {
			d.packages[name.Name] = true
		}
		ast.Inspect(node.X, d.use)
		return false
	case *ast.Ident:
		d.uses[node.Name] = true
	}
	return true
}

// receiver returns the name of the type of a method.
func receiver(fields *ast.FieldList) (name string) {
	for _, field := range fields.List {
		ast.Inspect(field.Type, func(node ast.Node) bool {
			if ident, ok := node.(*ast.Ident); ok && name == "" {
				name = ident.Name
			}
			return name == ""
		})
	}
	return name
}

var storageVersion = regexp.MustCompile(`(?m)^\s*//\s*\+kubebuilder:storageversion\s*?\n`)

// copyKind returns the source of a file with the kind, its list and what they use from the package, for the package of another version.
// It leaves out what that package declares already.
func copyKind(from, into []declaration, kind, version string) (string, error) {
	names := []string{kind, kind + "List"}
	first := find(from, kind).file
	own := func(d declaration) bool { return d.file == first }
	from = slices.Concat(filter(from, own), filter(from, func(d declaration) bool { return !own(d) }))
	taken := map[int]bool{}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		for i, d := range from {
			method := slices.ContainsFunc(d.names, func(n string) bool { return strings.HasPrefix(n, name+".") }) && !d.declares(kind+".Hub")
			if taken[i] || !d.declares(name) && !method {
				continue
			}
			there, err := declared(d, into)
			if err != nil {
				return "", err
			}
			if !there {
				taken[i] = true
				names = slices.AppendSeq(names, maps.Keys(d.uses))
				names = append(names, d.names...)
			}
		}
	}
	imports := map[string]bool{}
	var body strings.Builder
	for i, d := range from {
		if !taken[i] {
			continue
		}
		body.WriteString(storageVersion.ReplaceAllString(d.text, ""))
		needed, err := d.needed()
		if err != nil {
			return "", err
		}
		for _, line := range needed {
			imports[line] = true
		}
	}
	return "package " + version + "\n\nimport (\n" + strings.Join(slices.Sorted(maps.Keys(imports)), "\n") + "\n)\n" + body.String(), nil
}

func filter(all []declaration, keep func(declaration) bool) (kept []declaration) {
	for _, d := range all {
		if keep(d) {
			kept = append(kept, d)
		}
	}
	return kept
}

// declared reports whether a package declares the names of a declaration.
func declared(d declaration, into []declaration) (bool, error) {
	missing := ""
	found := 0
	for _, name := range d.names {
		if slices.ContainsFunc(into, func(other declaration) bool { return other.declares(name) }) {
			found++
		} else {
			missing = name
		}
	}
	if found > 0 && missing != "" {
		return false, fmt.Errorf("%s declares %s in one declaration, but the package of the new version already has some of them without %s: separate them",
			d.file, strings.Join(d.names, ", "), missing)
	}
	return found > 0, nil
}

// needed returns the imports that the declaration uses, as lines.
func (d declaration) needed() (lines []string, _ error) {
	for _, name := range slices.Sorted(maps.Keys(d.packages)) {
		found := ""
		for _, spec := range d.imports {
			if slices.Contains(packageNames(spec), name) {
				found = spec.Path.Value
				if spec.Name != nil {
					found = spec.Name.Name + " " + found
				}
			}
		}
		if found != "" {
			lines = append(lines, found)
		} else if d.types {
			return nil, fmt.Errorf("%s uses %s and has no import of that name: write the name before the path of the import", d.file, name)
		}
	}
	return lines, nil
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// packageNames returns the names that an import may have in its file.
func packageNames(spec *ast.ImportSpec) []string {
	if spec.Name != nil {
		return []string{spec.Name.Name}
	}
	file, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return nil
	}
	base := path.Base(file)
	names := []string{base}
	if majorVersion.MatchString(base) { // k8s.io/api/core/v1 is named v1, example.com/names/v2 names
		names = append(names, path.Base(path.Dir(file)))
	}
	before, _, _ := strings.Cut(base, ".v")
	return append(names, before, strings.TrimPrefix(before, "go-"))
}
