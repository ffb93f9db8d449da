package routing_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestImports limits the packages that this package adds to those of health: the Gateway API types and JSONPath, but not
// health/inspect.
func TestImports(t *testing.T) {
	t.Parallel()
	below := map[string]bool{}
	for _, path := range imports(t, "../health") {
		below[path] = true
	}
	var added []string
	for _, path := range imports(t, ".") {
		if strings.HasPrefix(path, "sigs.k8s.io/controller-runtime") || strings.HasPrefix(path, "k8s.io/api/") {
			t.Errorf("imports %s", path)
		}
		if !below[path] && !strings.HasPrefix(path, "github.com/reconcilekit/") {
			added = append(added, path)
		}
	}
	if len(added) > 4 {
		t.Errorf("adds %d packages to health, at most 4 are allowed:\n%s", len(added), strings.Join(added, "\n"))
	}
}

func imports(t *testing.T, pkg string) []string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", pkg).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(output))
}
