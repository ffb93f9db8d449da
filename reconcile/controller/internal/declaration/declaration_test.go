package declaration_test

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

func TestImportPath(t *testing.T) {
	t.Parallel()
	for function, want := range map[string]string{
		"example.com/a/b.F":                          "example.com/a/b",
		"example.com/a/b.(*T[...]).Method.func1":     "example.com/a/b",
		"example.com/a.b/c_test.F":                   "example.com/a.b/c",
		"main.main":                                  "main",
		"gopkg.in/yaml%2ev3.F":                       "gopkg.in/yaml.v3",
		"github.com/x/y/z.init.func1":                "github.com/x/y/z",
		"github.com/x/y/z.New[go.shape.*uint8].func": "github.com/x/y/z",
	} {
		if got := declaration.ImportPath(function); got != want {
			t.Errorf("package of %s: got %q, want %q", function, got, want)
		}
	}
}
