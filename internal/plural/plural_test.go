package plural_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/reconcilekit/reconcilekit/internal/plural"
)

func TestOf(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"Deployment": "deployments", "Endpoints": "endpoints", "ServiceEndpoints": "serviceendpoints",
		"Ingress": "ingresses", "StorageClass": "storageclasses", "ComponentStatus": "componentstatuses", "Canvas": "canvases",
		"Mesh": "meshes", "XMesh": "xmeshes", "Branch": "branches", "Mailbox": "mailboxes", "Waltz": "waltzes",
		"NetworkPolicy": "networkpolicies", "Registry": "registries", "Proxy": "proxies", "Y": "ys",
		"Gateway": "gateways", "Key": "keys", "Deploy": "deploys", "Buy": "buys",
	}
	got := map[string]string{}
	for kind := range want {
		got[kind] = plural.Of(kind)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestBuiltIn checks that the plural of a built-in kind equals that of apimachinery, which is correct for built-in
// kinds.
func TestBuiltIn(t *testing.T) {
	t.Parallel()
	for gvk := range clientgoscheme.Scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal {
			continue
		}
		want, _ := meta.UnsafeGuessKindToResource(gvk)
		if got := plural.Of(gvk.Kind); got != want.Resource {
			t.Errorf("%s: got %s, want %s", gvk.Kind, got, want.Resource)
		}
	}
}
