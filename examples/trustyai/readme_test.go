package main

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	caseName = regexp.MustCompile("`((?:tas|lmes|jobmgr|evalhub|gorch|nemo)-[a-z0-9-]+)`")
	testName = regexp.MustCompile("`(Test[A-Za-z]+)")
)

// TestReadme checks that the README describes every recorded case in which the product is wrong, and names only existing
// cases and tests.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	named, there := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		for _, found := range caseName.FindAllStringSubmatch(line, -1) {
			named[found[1]] = strings.HasPrefix(line, "|") // true in a table; elsewhere the name may mean something else
		}
	}
	for _, s := range scenarios(t) {
		there[s.Name] = true
		if s.Nasty && !named[s.Name] {
			t.Errorf("the README does not describe %s", s.Name)
		}
	}
	for name, isCase := range named {
		if isCase && !there[name] {
			t.Errorf("the README names the unknown case %s", name)
		}
	}
	tests := testsOf(t)
	for _, found := range testName.FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(tests, "func "+found[1]+"(") {
			t.Errorf("the README names the missing %s", found[1])
		}
	}
}

// testsOf returns the text of all tests of the example.
func testsOf(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	folder := os.DirFS(".")
	err := fs.WalkDir(folder, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(folder, path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
