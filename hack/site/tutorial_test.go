package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTutorial executes the commands of the tutorial in an empty folder, in their order, in one shell that stops at the first failure. A
// block without a language after a command is part of what it prints.
func TestTutorial(t *testing.T) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("KUBEBUILDER_ASSETS is not set")
		}
		t.Skip("KUBEBUILDER_ASSETS is not set: there is no API server for the operator of the tutorial")
	}
	page, err := os.ReadFile(filepath.Join(repository, "docs/tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	checkout, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("set -euo pipefail\n")
	var expected []string
	for _, match := range block.FindAllStringSubmatch(string(page), -1) {
		switch match[2] {
		case "sh":
			script.WriteString(match[3])
		case "":
			expected = append(expected, strings.Split(strings.TrimSpace(match[3]), "\n")...)
		}
	}
	command := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	command.Dir = t.TempDir()
	command.Env = append(os.Environ(), "RECONCILEKIT="+checkout)
	printed, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	rest := string(printed)
	for _, line := range expected {
		_, after, found := strings.Cut(rest, strings.TrimSpace(line))
		if !found {
			t.Errorf("the output does not have %q here:\n%s", line, rest)
		}
		rest = after
	}
}
