package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// workflow has the fields of a GitHub workflow that the test checks.
type workflow struct {
	Permissions map[string]string `json:"permissions"`
	Jobs        map[string]struct {
		Permissions map[string]string `json:"permissions"`
		Steps       []struct {
			Uses string            `json:"uses"`
			Run  string            `json:"run"`
			With map[string]string `json:"with"`
		} `json:"steps"`
	} `json:"jobs"`
}

var (
	tests  = regexp.MustCompile(`\.ci/run|make (test|check|prove|audit|kind-demo)|go (test|run|generate)`)
	digest = regexp.MustCompile(`@[0-9a-f]{40}$`)
)

// TestWorkflows checks that a workflow has at most read permissions by default, that a job with write permissions runs
// no tests, that actions of others are pinned by digest, and that no checkout stores its token for later steps.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(repository, ".github/workflows/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no workflows: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if w.Permissions == nil || writes(w.Permissions) {
			t.Errorf("%s: the permissions of all jobs are %v, want none or read", file, w.Permissions)
		}
		for name, job := range w.Jobs {
			for _, step := range job.Steps {
				if writes(job.Permissions) && tests.MatchString(step.Run) {
					t.Errorf("%s: job %s has write permissions and runs %q", file, name, step.Run)
				}
				if step.Uses != "" && !strings.HasPrefix(step.Uses, "actions/") && !digest.MatchString(step.Uses) {
					t.Errorf("%s: job %s uses %s: want the digest of its commit", file, name, step.Uses)
				}
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != "false" {
					t.Errorf("%s: job %s keeps the checkout's token for all steps", file, name)
				}
			}
		}
	}
}

func writes(permissions map[string]string) bool {
	for _, level := range permissions {
		if level == "write" {
			return true
		}
	}
	return false
}
