package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// outline returns the lines that a block in a README must have: the headings of the script, and the subject of each
// fact. The observed values are unknown without a cluster.
func (s script) outline() (lines []string) {
	for i, a := range s.Steps {
		lines = append(lines, s.heading(i))
		for _, wanted := range a.See {
			lines = append(lines, "     "+wanted.String()+":")
		}
	}

	return lines
}

// outlineOf returns the headings and facts of the script that occur in a block, and its other lines.
func outlineOf(block string, s script) (lines []string) {
	known := map[string]bool{}
	for _, line := range s.outline() {
		known[line] = true
	}

	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, "\n")

		about, _, isFact := strings.Cut(line, ": ")
		switch {
		case known[line]:
			lines = append(lines, line)
		case isFact && known[about+":"]:
			lines = append(lines, about+":")
		case numbered(line):
			lines = append(lines, line) // a step that the script lacks
		}
	}

	return lines
}

func numbered(line string) bool {
	var at, of int

	n, _ := fmt.Sscanf(line, "%d of %d.", &at, &of)

	return n == 2
}

// TestReadmes checks that the README of each product with a script has the steps of the script. make demo PRODUCT=name
// README=1 writes them.
func TestReadmes(t *testing.T) {
	t.Parallel()

	root := findRepository(t)

	for _, name := range productNames(root) {
		p := product{root: root, name: name}

		var err error
		if p.script, err = readScript(p.scriptFile()); err != nil {
			t.Fatal(err)
		}

		if len(p.script.Steps) == 0 {
			continue
		}

		text, err := os.ReadFile(p.readme())
		if err != nil {
			t.Fatal(err)
		}

		_, block, _, err := splitReadme(string(text))
		if err != nil {
			t.Errorf("%s: %v", p.readme(), err)

			continue
		}

		if diff := cmp.Diff(p.script.outline(), outlineOf(block, p.script)); diff != "" {
			t.Errorf("%s is out of date, run make demo PRODUCT=%s README=1 (-script +README):\n%s", p.readme(), name, diff)
		}
	}
}

func TestWriteReadme(t *testing.T) {
	t.Parallel()

	p := product{root: t.TempDir(), name: "shop"}
	if err := os.MkdirAll(filepath.Dir(p.readme()), 0o755); err != nil {
		t.Fatal(err)
	}

	write := func(text string) {
		if err := os.WriteFile(p.readme(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	write("# Shop\n\n" + readmeBegin + "\nold\n" + readmeEnd + "\n\nmore\n")

	for _, line := range []string{"first", "second"} {
		if err := writeReadme(p, []string{line}); err != nil {
			t.Fatal(err)
		}

		got, err := os.ReadFile(p.readme())
		if err != nil {
			t.Fatal(err)
		}

		want := "# Shop\n\n" + readmeBegin + "\n\n```\n" + line + "\n```\n\n" + readmeEnd + "\n\nmore\n"
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("README (-want +got):\n%s", diff)
		}
	}

	for _, text := range []string{"# Shop\n", readmeBegin + "\n", readmeEnd + "\n" + readmeBegin + "\n"} {
		write(text)

		if err := writeReadme(p, nil); err == nil || !strings.Contains(err.Error(), "want a line") {
			t.Errorf("README %q: want an error about the markers, got %v", text, err)
		}
	}
}
