package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// release creates a release from a changelog.
func release(t *testing.T, version, changelog string) (printed, out string, err error) {
	t.Helper()
	out = t.TempDir()
	file := filepath.Join(out, "CHANGELOG.md")
	if err := os.WriteFile(file, []byte(changelog), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(repository, "hack/release.sh"), version)
	out = filepath.Join(out, "files")
	command.Env = append(os.Environ(), "PLATFORMS=linux/amd64", "CHANGELOG="+file, "OUT="+out)
	text, err := command.CombinedOutput()
	return string(text), out, err
}

// TestRelease checks that a release contains the command, its checksum, and the section of the changelog.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the command")
	}
	t.Parallel()
	printed, out, err := release(t, "v0.2.0", "# Changelog\n\n## 0.2.0\n\n- new\n\n## 0.1.0\n\n- old\n")
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	if notes, err := os.ReadFile(filepath.Join(out, "notes.md")); err != nil || strings.TrimSpace(string(notes)) != "- new" {
		t.Errorf("the notes are %q, %v", notes, err)
	}
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", "SHA256SUMS")
	check.Dir = out
	if text, err := check.CombinedOutput(); err != nil || !strings.Contains(string(text), "reconcilekit_v0.2.0_linux_amd64.tar.gz: OK") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestReleaseRefuses checks that an invalid version, or one without a section in the changelog, is an error.
func TestReleaseRefuses(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"1.0": "want vMAJOR.MINOR.PATCH", "v1.0.0": `no section "## 1.0.0"`} {
		if printed, _, err := release(t, version, "## Unreleased\n\n- new\n"); err == nil || !strings.Contains(printed, want) {
			t.Errorf("%s: got %v and %q, want %q", version, err, printed, want)
		}
	}
}
