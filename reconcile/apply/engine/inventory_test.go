package engine_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

func TestApplySetID(t *testing.T) {
	t.Parallel()
	// base64url(sha256("name.namespace.kind.group")), as KEP-3659 has it.
	id := applyset.ID(schema.GroupKind{Group: "example.com", Kind: "Widget"}, types.NamespacedName{Namespace: "shop", Name: "web"})
	if !strings.HasPrefix(id, "applyset-") || !strings.HasSuffix(id, "-v1") || len(id) != 55 {
		t.Errorf("ApplySetID = %q, want applyset-<43 characters>-v1", id)
	}
	other := applyset.ID(schema.GroupKind{Group: "example.com", Kind: "Widget"}, types.NamespacedName{Namespace: "web", Name: "shop"})
	if other == id {
		t.Error("two owners have one id")
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	order := []schema.GroupKind{
		{Kind: "Namespace"},
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
		{Kind: "ServiceAccount"},
		{Kind: "Secret"},
		{Kind: "PersistentVolumeClaim"},
		{Kind: "Service"},
		{Group: "example.com", Kind: "Anything"},
		{Group: "apps", Kind: "Deployment"},
		{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"},
		{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"},
		{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"},
	}
	for i := 1; i < len(order); i++ {
		if engine.Rank(order[i-1]) >= engine.Rank(order[i]) {
			t.Errorf("%v must come before %v", order[i-1], order[i])
		}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for count, want := range []time.Duration{1, 2, 4, 8, 10, 10} {
		if got := engine.Backoff(count, 10*time.Second); got != want*time.Second {
			t.Errorf("backoff(%d) = %v, want %v s", count, got, int(want))
		}
	}
}

func TestMemoryPerChild(t *testing.T) {
	const n = 20000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := engine.RememberChildren(n, func(i int) (types.NamespacedName, types.UID, string) {
		return types.NamespacedName{Namespace: fmt.Sprintf("namespace-%d", i), Name: fmt.Sprintf("some-longer-child-name-%d", i)},
			types.UID(fmt.Sprintf("01234567-89ab-cdef-0123-%012d", i)), fmt.Sprintf("%d", 1000000+i)
	})
	runtime.GC()
	runtime.ReadMemStats(&after)
	perChild := int64(after.HeapAlloc-before.HeapAlloc) / n
	runtime.KeepAlive(kept)
	t.Logf("%d bytes per child", perChild)
	if perChild > 1024 {
		t.Errorf("%d bytes per child, want at most 1024", perChild)
	}
}
