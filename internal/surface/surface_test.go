package surface_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/internal/surface"
)

//go:generate go test -count=1 -run "TestLists|TestAliases" -update .

var update = flag.Bool("update", false, "write the lists anew")

const (
	root  = "../.."
	lists = root + "/api"
	// most is how many names others have to know at most.
	most = 380
)

// TestLists fails when the exported names of a package are not the listed ones, or are too many.
func TestLists(t *testing.T) {
	packages, err := surface.Packages(root)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	names := 0
	for _, folder := range packages {
		name := strings.ReplaceAll(folder, string(filepath.Separator), "-") + ".txt"
		known[name] = true
		lines, err := surface.Of(filepath.Join(root, folder))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(folder, filepath.Join("reconcile", "reconciletest")) {
			names += exported(lines)
		}
		compare(t, filepath.Join(lists, name), strings.Join(lines, "\n")+"\n")
	}
	if names > most {
		t.Errorf("%d exported types, functions, constants and variables without the test kit, want at most %d: let an internal package have what nobody else names",
			names, most)
	}
	gone(t, known)
}

// TestAliases fails when the comment of an alias does not show the type of an internal package that it stands for.
func TestAliases(t *testing.T) {
	packages, err := surface.Packages(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range packages {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			shown, err := surface.Shown(root, "github.com/reconcilekit/reconcilekit", file)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, file, string(shown))
		}
	}
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(lists, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s is not what the package exports (-listed +exported); say so in CHANGELOG.md and run make generate:\n%s", file, diff)
	}
}

// gone removes, or names, the lists of packages that are no more.
func gone(t *testing.T, known map[string]bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(lists, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		switch {
		case known[filepath.Base(file)]:
		case *update:
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is of a package that does not exist; run make generate", file)
		}
	}
}

func exported(lines []string) int {
	n := 0
	for _, line := range lines {
		word, rest, _ := strings.Cut(line, " ")
		member := strings.Contains(rest, " has ") || strings.Contains(rest, " embeds ")
		if word != "method" && (word != "type" || !member) {
			n++
		}
	}
	return n
}

func TestOf(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	source := `package p

import "context"

const (
	A Kind = iota
	B
	hidden
)

// Key is persisted.
const Key = "example.com/key"

type Kind int

type Alias = Kind

type Box[T any] struct {
	Value, Other T
	secret       int
	Call         func(ctx context.Context, n int) error
	context.Context
}

type Reader interface {
	Get(ctx context.Context, names ...string) (value string, err error)
	close()
}

func (b *Box[T]) Open(deep bool) T { return b.Value }
func (b *Box[T]) shut()            {}
func (k kind) Open()               {}

type kind int

func New[T comparable](first, second T) (*Box[T], error) { return nil, nil }
func helper()                                          {}

var Default, other = 1, 2
`
	if err := os.WriteFile(filepath.Join(folder, "p.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "p_test.go"), []byte("package p\n\nfunc Test() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := surface.Of(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"const A Kind", "const B Kind", `const Key = "example.com/key"`,
		"func New[T comparable](T, T) (*Box[T], error)",
		"method (*Box[T]) Open(bool) T",
		"type Alias = Kind",
		"type Box embeds context.Context", "type Box has Call func(context.Context, int) error", "type Box has Other T", "type Box has Value T",
		"type Box[T any] struct",
		"type Kind int",
		"type Reader has Get(context.Context, ...string) (string, error)", "type Reader interface",
		"var Default",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := surface.Of(filepath.Join(folder, "[")); err == nil {
		t.Error("a folder that cannot be listed must be an error")
	}
}

// TestOfInternal lists what has another name in an internal package as if it were declared in the folder.
func TestOfInternal(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "p")
	for name, source := range map[string]string{
		"p.go": "package p\n\nimport \"m/p/internal/inner\"\n\nconst Key = inner.Key\n\n" +
			"type Box = inner.Box\n\nfunc Open(b inner.Box) inner.Kind { return inner.Open(b) }\n",
		"internal/inner/inner.go": "package inner\n\nimport \"m/p/internal/deep\"\n\nconst Key = \"key\"\n\ntype Kind int\n\n" +
			"type Box struct {\n\tValue deep.Value\n\tsecret int\n}\n\nfunc (b *Box) Open() Kind { return 0 }\n\nfunc (b *Box) shut() {}\n",
		"internal/deep/deep.go": "package deep\n\ntype Value int\n",
	} {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := surface.Of(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`const Key = "key"`, "func Open(Box) Kind", "method (*Box) Open() Kind", "type Box has Value Value", "type Box struct",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
