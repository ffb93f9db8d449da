package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	module  = "github.com/reconcilekit/reconcilekit"
	tracing = module + "/internal/rooms/trace"
	program = module + "/internal/rooms/way/onechild"
)

func main() {
	verbose := flag.Bool("v", false, "print the rooms in the order of the way")
	flag.Parse()
	if err := run(*verbose); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(verbose bool) error {
	dir, err := os.MkdirTemp("", "way")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := instrument(dir)
	if err != nil {
		return err
	}
	args := []string{"run", "-overlay", overlay, program}
	if verbose {
		args = append(args, "-v")
	}
	command := exec.Command("go", args...) //nolint:gosec,noctx // a program of this module
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	return command.Run()
}

// instrument writes copies of the source of the engine to dir, and the list of them that the compiler reads.
func instrument(dir string) (string, error) {
	text, err := exec.Command("go", "list", "-f", `{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, //nolint:noctx // a short command
		module+"/reconcile/apply/...", module+"/reconcile/internal/...").Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	replace := map[string]string{}
	for i, file := range strings.Fields(string(text)) {
		source, err := os.ReadFile(file) //nolint:gosec // a file of the module
		if err != nil {
			return "", err
		}
		traced, err := withCalls(file, source)
		if err != nil {
			return "", err
		}
		replace[file] = filepath.Join(dir, strconv.Itoa(i)+".go")
		if err := os.WriteFile(replace[file], traced, 0o600); err != nil { //nolint:gosec // in the directory of this run
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, list, 0o600)
}

// withCalls returns the source with a call of the tracing package at the beginning of each function.
func withCalls(file string, source []byte) ([]byte, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	type insertion struct {
		at   int
		text string
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	insertions := []insertion{{at(parsed.Name.End()), "; import waytrace " + fmt.Sprintf("%q", tracing)}}
	room := path.Base(filepath.Dir(file)) + "/" + filepath.Base(file)
	called := false
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		called = true
		call := fmt.Sprintf(" defer waytrace.Call(%q, %q)();", room, parsed.Name.Name+"."+receiver(f)+f.Name.Name)
		insertions = append(insertions, insertion{at(f.Body.Lbrace) + 1, call})
	}
	if !called {
		return source, nil
	}
	var out bytes.Buffer
	from := 0
	for _, i := range insertions {
		out.Write(source[from:i.at])
		out.WriteString(i.text)
		from = i.at
	}
	out.Write(source[from:])
	return out.Bytes(), nil
}

// receiver is the type of the receiver of a method and a dot, nothing for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}
