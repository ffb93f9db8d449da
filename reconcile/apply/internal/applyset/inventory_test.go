package applyset_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

func TestGroupKinds(t *testing.T) {
	t.Parallel()
	gks := []schema.GroupKind{{Kind: "Secret"}, {Group: "apps", Kind: "Deployment"}, {Kind: "Secret"}}
	text := applyset.FormatGroupKinds(gks)
	if want := "Deployment.apps,Secret"; text != want {
		t.Errorf("FormatGroupKinds = %q, want %q", text, want)
	}
	got, err := applyset.ParseGroupKinds(" Secret , Deployment.apps,,")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]schema.GroupKind{{Group: "apps", Kind: "Deployment"}, {Kind: "Secret"}}, got); diff != "" {
		t.Errorf("ParseGroupKinds (-want +got):\n%s", diff)
	}
	if _, err := applyset.ParseGroupKinds(".apps"); err == nil {
		t.Error("ParseGroupKinds accepts a group without kind")
	}
}

func FuzzGroupKinds(f *testing.F) {
	f.Add("Deployment.apps,Secret")
	f.Fuzz(func(t *testing.T, text string) {
		gks, err := applyset.ParseGroupKinds(text)
		if err != nil {
			return
		}
		canonical := applyset.FormatGroupKinds(gks)
		again, err := applyset.ParseGroupKinds(canonical)
		if err != nil || applyset.FormatGroupKinds(again) != canonical {
			t.Errorf("%q: %q reads as %v, %v", text, canonical, again, err)
		}
	})
}

func FuzzContributions(f *testing.F) {
	f.Add("apps", "Deployment", "shop", "web")
	f.Add("", "ConfigMap", "", "system:node,x%2F")
	f.Fuzz(func(t *testing.T, group, kind, namespace, name string) {
		if name == "" || kind == "" || strings.ContainsAny(group+kind+namespace, ",/") || strings.Contains(kind, ".") {
			return
		}
		gk, key := schema.GroupKind{Group: group, Kind: kind}, types.NamespacedName{Namespace: namespace, Name: name}
		id := applyset.ObjectID{GroupKind: gk, Key: key}
		got, err := applyset.ParseContributions(applyset.FormatContributions([]applyset.ObjectID{id}))
		if err != nil || len(got) != 1 || got[0] != id {
			t.Errorf("%v reads as %v, %v", id, got, err)
		}
		_, _ = applyset.ParseContributions(name) // does not panic
	})
}
