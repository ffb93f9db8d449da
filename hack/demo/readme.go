package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The markers in a README, on lines of their own, around the steps.
const (
	readmeBegin = "<!-- demo: written by make demo README=1 -->"
	readmeEnd   = "<!-- demo: end -->"
)

// readme returns the path of the README.
func (p product) readme() string { return filepath.Join(p.root, "examples", p.name, "README.md") }

// writeReadme replaces the part of the product's README between the markers.
func writeReadme(p product, lines []string) error {
	data, err := os.ReadFile(p.readme())
	if err != nil {
		return err
	}

	before, _, after, err := splitReadme(string(data))
	if err != nil {
		return fmt.Errorf("%s: %w", p.readme(), err)
	}

	block := "\n\n```\n" + strings.Join(lines, "\n") + "\n```\n\n"

	return os.WriteFile(p.readme(), []byte(before+block+after), 0o644) //nolint:gosec // a README is for everybody
}

// splitReadme splits a README at the markers: before ends with the first one, and after begins with the last one.
func splitReadme(text string) (before, block, after string, err error) {
	begin, end := strings.Index(text, readmeBegin), strings.Index(text, readmeEnd)
	if begin < 0 || end < begin {
		return "", "", "", fmt.Errorf("want a line %q, and below it a line %q", readmeBegin, readmeEnd)
	}

	begin += len(readmeBegin)

	return text[:begin], text[begin:end], text[end:], nil
}
