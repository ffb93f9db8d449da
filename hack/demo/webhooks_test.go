package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestRedirect(t *testing.T) {
	t.Parallel()

	h := &hooks{address: "127.0.0.1:9", authority: []byte("pem")}

	configuration := func(clientConfig map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"webhooks": []any{map[string]any{"name": "a", "clientConfig": clientConfig}}}}
	}

	got := configuration(map[string]any{"service": map[string]any{"name": "s", "path": "/mutate"}})
	if err := h.redirect(got); err != nil {
		t.Fatal(err)
	}

	want := configuration(map[string]any{"url": "https://127.0.0.1:9/mutate", "caBundle": "cGVt"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	if err := h.redirect(configuration(map[string]any{})); err == nil || !strings.Contains(err.Error(), "webhooks[0].clientConfig.service.path") {
		t.Errorf("want an error that names the missing path, got %v", err)
	}
}
