package surface_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/internal/surface"
)

// TestUsed fails when examples and documentation use less than half of the names.
func TestUsed(t *testing.T) {
	t.Parallel()
	text := shown(t)
	packages, err := surface.Packages(root)
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	var unused []string
	for _, folder := range packages {
		if strings.HasPrefix(folder, filepath.Join("reconcile", "reconciletest")) {
			continue
		}
		lines, err := surface.Of(filepath.Join(root, folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			found := declared.FindStringSubmatch(line)
			if exported([]string{line}) == 0 || found == nil {
				continue
			}
			names++
			if name := filepath.Base(folder) + "." + found[1]; !text[name] {
				unused = append(unused, name)
			}
		}
	}
	t.Logf("%d of %d names are used by examples and documentation", names-len(unused), names)
	if 2*len(unused) > names {
		t.Errorf("examples and documentation use %d of %d names, want at least half; these are not: %s",
			names-len(unused), names, strings.Join(unused, ", "))
	}
}

var (
	declared = regexp.MustCompile(`^(?:const|var|func|type) (\w+)`)
	named    = regexp.MustCompile(`\b[a-z]\w*\.[A-Z]\w*`)
)

// shown are the names, with those of their packages, in the examples and in the documentation.
func shown(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := entry.Name(); entry.IsDir() && base != ".." && strings.HasPrefix(base, ".") {
			return filepath.SkipDir
		}
		example := strings.HasSuffix(path, "example_test.go") || strings.HasSuffix(path, ".go") && strings.HasPrefix(path, filepath.Join(root, "examples"))
		documentation := strings.HasSuffix(path, ".md") && entry.Name() != "CHANGELOG.md"
		if !example && !documentation {
			return nil
		}
		content, err := os.ReadFile(path)
		for _, name := range named.FindAllString(string(content), -1) {
			out[name] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
