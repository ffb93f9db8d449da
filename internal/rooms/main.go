package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Export            string
	DepOnly                            bool
	GoFiles, TestGoFiles, XTestGoFiles []string
}

func main() {
	verbose := flag.Bool("v", false, "print the references that point back, with the names that are used")
	flag.Parse()
	if err := run(os.Stdout, flag.Args(), *verbose); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// room is what was counted of a package.
type room struct {
	path                string
	files, lines, tests int
	refs                int
	back                []string // the references that point back, with the names
}

// measure counts the packages.
func measure(patterns []string) ([]room, error) {
	packages, err := list(patterns)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	var rooms []room
	for _, p := range packages {
		if p.DepOnly {
			continue
		}
		refs, err := references(p, exports)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		r := room{path: p.ImportPath, files: len(p.GoFiles), lines: lines(p.Dir, p.GoFiles), refs: len(refs)}
		r.tests = lines(p.Dir, slices.Concat(p.TestGoFiles, p.XTestGoFiles))
		for _, ref := range back(p.GoFiles, refs) {
			r.back = append(r.back, ref.from+" -> "+ref.to+": "+strings.Join(slices.Sorted(maps.Keys(refs[ref])), ", "))
		}
		rooms = append(rooms, r)
	}
	return rooms, nil
}

// run writes one line for each package.
func run(out io.Writer, patterns []string, verbose bool) error {
	rooms, err := measure(patterns)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%-70s %5s %6s %6s %5s %5s\n", "package", "files", "lines", "tests", "refs", "back"); err != nil {
		return err
	}
	for i := range rooms {
		r := &rooms[i]
		if _, err := fmt.Fprintf(out, "%-70s %5d %6d %6d %5d %5d\n", r.path, r.files, r.lines, r.tests, r.refs, len(r.back)); err != nil {
			return err
		}
		for _, ref := range r.back {
			if !verbose {
				break
			}
			if _, err := fmt.Fprintf(out, "    %s\n", ref); err != nil {
				return err
			}
		}
	}
	return nil
}

func list(patterns []string) ([]listed, error) {
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,DepOnly,GoFiles,TestGoFiles,XTestGoFiles"}, patterns...)
	text, err := exec.Command("go", args...).Output() //nolint:gosec,noctx // what to count is given by who runs it
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var out []listed
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		out = append(out, p)
	}
}

func lines(dir string, files []string) int {
	n := 0
	for _, name := range files {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil { //nolint:gosec // a file of the module
			n += bytes.Count(text, []byte("\n"))
		}
	}
	return n
}

// reference leads from the file that uses a name to the one that declares it.
type reference struct{ from, to string }

// names are those that a file uses of another one.
type names = map[string]struct{}

// references returns those between the files of a package.
func references(p listed, exports map[string]string) (map[reference]names, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	pkg, err := config.Check(p.ImportPath, fset, files, info)
	if err != nil {
		return nil, err
	}
	out := map[reference]names{}
	for use, object := range info.Uses {
		if object.Pkg() != pkg || (object.Parent() != pkg.Scope() && object.Parent() != nil) {
			continue // of another package, or local to a function
		}
		from, to := filepath.Base(fset.Position(use.Pos()).Filename), filepath.Base(fset.Position(object.Pos()).Filename)
		if from != to && strings.HasSuffix(to, ".go") {
			ref := reference{from, to}
			if out[ref] == nil {
				out[ref] = names{}
			}
			out[ref][object.Name()] = struct{}{}
		}
	}
	return out, nil
}

// back returns the references that point back in an order with few of them, sorted.
func back(files []string, refs map[reference]names) []reference {
	var head, tail []string
	left := map[string]bool{}
	for _, f := range files {
		left[f] = true
	}
	degrees := func(f string) (in, out int) {
		for r := range refs {
			switch {
			case r.from == f && left[r.to]:
				out++
			case r.to == f && left[r.from]:
				in++
			}
		}
		return in, out
	}
	for len(left) > 0 {
		best, gain := "", 0
		for _, f := range files { // in their order, so that the result is always the same
			if !left[f] {
				continue
			}
			in, out := degrees(f)
			if out == 0 {
				best, gain = f, -len(files)
				break
			}
			if in == 0 {
				out += len(files)
			}
			if best == "" || out-in > gain {
				best, gain = f, out-in
			}
		}
		delete(left, best)
		if gain == -len(files) {
			tail = append(tail, best)
		} else {
			head = append(head, best)
		}
	}
	place := map[string]int{}
	for i, f := range head {
		place[f] = i
	}
	for i, f := range tail {
		place[f] = len(files) - i
	}
	var out []reference
	for r := range refs {
		if place[r.from] > place[r.to] {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b reference) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return out
}
