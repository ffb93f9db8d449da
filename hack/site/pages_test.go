package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTutorial executes the commands of the tutorial in an empty folder.
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a project")
	}
	needAPIServer(t)
	play(t, "docs/tutorial.md", t.TempDir())
}

// TestKubebuilder executes the commands of the page about kubebuilder in an empty folder.
func TestKubebuilder(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a project")
	}
	needAPIServer(t)
	built, err := exec.CommandContext(t.Context(), "go", "tool", "-n", "kubebuilder").Output()
	if err != nil {
		t.Fatal(err)
	}
	programs, folder := t.TempDir(), t.TempDir()
	if err := os.Symlink(strings.TrimSpace(string(built)), filepath.Join(programs, "kubebuilder")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("GOWORK", "off")
	t.Setenv("GONOSUMDB", "*") // we do not pin the dependencies of kubebuilder, and the checksum database may be unreachable
	play(t, "docs/how-to/kubebuilder.md", folder)
}

// needAPIServer skips the test of an operator if no API server is available.
func needAPIServer(t *testing.T) {
	t.Helper()
	switch {
	case os.Getenv("KUBEBUILDER_ASSETS") != "":
	case os.Getenv("CI") != "":
		t.Fatal("KUBEBUILDER_ASSETS is not set")
	default:
		t.Skip("KUBEBUILDER_ASSETS is not set: the page needs an API server")
	}
}

// play executes the commands of a page in a folder, in order, in one shell that stops at the first failure. A block
// without a language that follows a command contains lines of its expected output.
func play(t *testing.T, name, folder string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(repository, name))
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
	command.Dir = folder
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
