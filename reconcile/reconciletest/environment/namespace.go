package environment

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// testAnnotation is the annotation of a namespace with the name of its test.
const testAnnotation = "reconciletest/test"

// Namespace creates a namespace for t and returns its name. It is deleted when t ends. On an API server without controllers it stays
// Terminating, and its content remains. Without a control plane t is skipped, see Require.
func (e *Environment) Namespace(t testing.TB) string {
	t.Helper()
	e.Require(t)

	c := e.Client()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: namespacePrefix(t.Name()),
		Annotations:  map[string]string{testAnnotation: t.Name()},
	}}

	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatalf("create a namespace: %v", err)
	}

	ctx := context.WithoutCancel(t.Context()) // Ginkgo has no context during the cleanup

	t.Cleanup(func() {
		if err := client.IgnoreNotFound(c.Delete(ctx, namespace)); err != nil {
			t.Errorf("delete namespace %s: %v", namespace.Name, err)
		}
	})

	return namespace.Name
}

// namespacePrefix derives the readable part of a namespace's name from a test's name: its last words, as a DNS label with space for the
// server's suffix.
func namespacePrefix(test string) string {
	const room = 40

	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}

		return '-'
	}, strings.ToLower(test))

	clean = strings.Trim(clean[max(0, len(clean)-room):], "-")
	if clean == "" || clean[0] >= '0' && clean[0] <= '9' {
		clean = "test-" + clean
	}

	return strings.TrimSuffix(clean, "-") + "-"
}
