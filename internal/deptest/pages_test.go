package deptest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPages checks that the links of hand-written pages work, and that Go code in README.md and docs/testing.md is code
// of a file that compiles.
func TestPages(t *testing.T) {
	t.Parallel()

	base := root(t)
	sources := goSources(t, base)

	pages, err := filepath.Glob(filepath.Join(base, "*.md"))
	if err != nil {
		t.Fatal(err)
	}

	err = filepath.WalkDir(filepath.Join(base, "docs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(path) == ".md" {
			pages = append(pages, path)
		}

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}

		checkLinks(t, page, string(data))

		if name := filepath.Base(page); name == "README.md" || name == "testing.md" {
			checkSnippets(t, page, string(data), sources)
		}
	}
}

func checkLinks(t *testing.T, page, text string) {
	t.Helper()

	for _, found := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(text, -1) {
		if strings.Contains(found[1], "://") {
			continue
		}

		if _, err := os.Stat(filepath.Join(filepath.Dir(page), found[1])); err != nil {
			t.Errorf("%s links to %s, which does not exist", page, found[1])
		}
	}
}

// checkSnippets checks that each Go block of a page occurs unchanged in one Go file.
func checkSnippets(t *testing.T, page, text string, sources []string) {
	t.Helper()

	for _, found := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(text, -1) {
		known := false
		for _, source := range sources {
			known = known || strings.Contains(source, found[1])
		}

		if !known {
			t.Errorf("%s: no file contains this Go code: copy it from a file that compiles:\n%s", page, found[1])
		}
	}
}

// goSources returns the Go files that a page may quote.
func goSources(t *testing.T, base string) []string {
	t.Helper()

	var sources []string

	err := filepath.WalkDir(base, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}

		data, err := os.ReadFile(path)
		sources = append(sources, string(data))

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return sources
}
