package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestFindFailure(t *testing.T) {
	t.Parallel()

	for name := range failures() {
		if _, err := findFailure(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	if _, err := findFailure("flood"); err == nil || !strings.Contains(err.Error(), "fight, quota, rights, spec, webhook") {
		t.Errorf("want an error that lists the failures, got %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()

	rule := func(group, resource string, verbs ...any) any {
		return map[string]any{"apiGroups": []any{group}, "resources": []any{resource}, "verbs": verbs}
	}
	role := &unstructured.Unstructured{Object: map[string]any{
		"kind": "ClusterRole", "rules": []any{rule("apps", "deployments", "get", "patch", "watch"), rule("", "configmaps", "patch")},
	}}
	v := &victim{mapping: &meta.RESTMapping{Resource: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}}}
	v.readOnly(role)

	want := []any{rule("apps", "deployments", "get", "watch"), rule("", "configmaps", "patch")}
	if diff := cmp.Diff(want, role.Object["rules"]); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}

	binding := &unstructured.Unstructured{Object: map[string]any{"kind": "ClusterRoleBinding"}}
	if v.readOnly(binding); len(binding.Object) != 1 {
		t.Errorf("a binding was changed: %v", binding.Object)
	}
}

func TestEvidence(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "operator.log")
	before := `{"level":"error","error":"old"}` + "\n"
	after := `{"level":"info","msg":"wrote"}` + "\n" + `{"level":"error","error":"new","stacktrace":"main.go:1"}` + "\n"

	if err := os.WriteFile(file, []byte(before+after), 0o600); err != nil {
		t.Fatal(err)
	}

	line, err := failureLine(file, int64(len(before)))
	if err != nil || line != `{"level":"error","error":"new"` {
		t.Errorf("line %q, error %v", line, err)
	}

	metrics := `reconcilekit_owners{condition="Ready",controller="a",status="True"} 1` + "\n" +
		`reconcilekit_owners{condition="Ready",controller="b",status="False"} 1` + "\n"
	if got := controllerOf(metrics); got != "b" {
		t.Errorf("controller %q, want b", got)
	}

	e := evidence{condition: "c", log: line, ready: "ok", explained: "first\n└─ second\n"}
	if diff := cmp.Diff([]string{"event", "metric"}, e.missing()); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}

	lines := e.lines()
	if got := lines[len(lines)-2:]; !cmp.Equal(got, []string{"explain    first", "           └─ second"}) {
		t.Errorf("lines %q", got)
	}
}
