package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

const repository = "../.."

// TestLinks checks that every link points to an existing file, and its anchor to a heading.
func TestLinks(t *testing.T) {
	t.Parallel()
	found, err := pages(repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range broken(t, found, func(name string) bool {
		_, err := os.Stat(filepath.Join(repository, name))
		return err == nil
	}) {
		t.Error(problem)
	}
}

// TestBroken checks that broken links and anchors are found.
func TestBroken(t *testing.T) {
	t.Parallel()
	found := broken(t, map[string][]byte{
		"README.md":      []byte("[a](docs/a.md) [b](docs/a.md#there) [c](docs/a.md#nowhere) [d](docs/b.md) [e](#top) [f](https://example.com/x)\n"),
		"docs/a.md":      []byte("## There\n[up](../README.md)\n"),
		"docs/deep/c.md": []byte("[far](../../../outside.md)\n"),
	}, func(name string) bool { return name == "README.md" || name == "docs/a.md" })
	if len(found) != 4 {
		t.Errorf("found %q, want 4 broken links", found)
	}
}

// broken lists the links whose target does not exist.
func broken(t *testing.T, found map[string][]byte, exists func(string) bool) (problems []string) {
	t.Helper()
	for name, source := range found {
		page := markdown().Parser().Parse(text.NewReader(source))
		if err := links(page, func(destination []byte) []byte {
			file, anchor, _ := strings.Cut(string(destination), "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			switch {
			case !local(string(destination)):
			case !exists(target) && found[target] == nil, strings.HasPrefix(target, "../"):
				problems = append(problems, name+": "+string(destination)+" has no target")
			case anchor != "" && strings.HasSuffix(target, ".md") && !headings(t, found[target])[anchor]:
				problems = append(problems, name+": no heading "+string(destination))
			}
			return destination
		}); err != nil {
			t.Fatal(err)
		}
	}
	return problems
}

// headings returns the anchors of a page.
func headings(t *testing.T, source []byte) map[string]bool {
	t.Helper()
	anchors := map[string]bool{}
	page := markdown().Parser().Parse(text.NewReader(source))
	if err := ast.Walk(page, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if heading, ok := node.(*ast.Heading); ok && entering {
			if id, ok := heading.AttributeString("id"); ok {
				anchors[string(id.([]byte))] = true
			}
		}
		return ast.WalkContinue, nil
	}); err != nil {
		t.Fatal(err)
	}
	return anchors
}

// block matches a code block of a page with the comment above it.
var block = regexp.MustCompile("(?m)(?:^<!-- from (\\S+) -->\n)?^```([a-z]*)\n((?s:.*?))^```$")

// TestCode checks that each code block of a page is contained in the file that the comment above it names. Go and YAML
// blocks in docs/ must have such a comment.
func TestCode(t *testing.T) {
	t.Parallel()
	found, err := pages(repository)
	if err != nil {
		t.Fatal(err)
	}
	quoted := 0
	for name, source := range found {
		for _, match := range block.FindAllStringSubmatch(string(source), -1) {
			file, language, code := match[1], match[2], match[3]
			if file == "" {
				if compiled := strings.HasPrefix(name, "docs/how-to/") || name == "docs/tutorial.md"; compiled && (language == "go" || language == "yaml") {
					t.Errorf("%s: a block of %s without <!-- from FILE --> above it:\n%s", name, language, code)
				}
				continue
			}
			quoted++
			text, err := os.ReadFile(filepath.Join(repository, file))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if !strings.Contains(string(text), code) {
				t.Errorf("%s: %s does not contain:\n%s", name, file, code)
			}
		}
	}
	if quoted == 0 {
		t.Error("no page quotes a file")
	}
}

// TestWrite checks that the links of rendered pages point to rendered pages.
func TestWrite(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	if err := write(repository, out); err != nil {
		t.Fatal(err)
	}
	home, err := os.ReadFile(filepath.Join(out, "README.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`href="docs/design.html"`, "<table>", "<code"} {
		if !strings.Contains(string(home), want) {
			t.Errorf("README.html has no %s", want)
		}
	}
}
