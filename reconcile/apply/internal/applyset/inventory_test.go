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
	got, unreadable := applyset.ParseGroupKinds(" Secret , Deployment.apps,, .x,Con fig,ConfigMap./")
	if diff := cmp.Diff([]string{".x", "Con fig", "ConfigMap./"}, unreadable); diff != "" {
		t.Errorf("ParseGroupKinds, unreadable (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]schema.GroupKind{{Group: "apps", Kind: "Deployment"}, {Kind: "Secret"}}, got); diff != "" {
		t.Errorf("ParseGroupKinds (-want +got):\n%s", diff)
	}
}

func FuzzGroupKinds(f *testing.F) {
	f.Add("Deployment.apps,Secret")
	f.Fuzz(func(t *testing.T, text string) {
		gks, _ := applyset.ParseGroupKinds(text)
		canonical := applyset.FormatGroupKinds(gks)
		again, unreadable := applyset.ParseGroupKinds(canonical)
		if len(unreadable) > 0 || applyset.FormatGroupKinds(again) != canonical {
			t.Errorf("%q: %q reads as %v, unreadable %q", text, canonical, again, unreadable)
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
		if _, unreadable := applyset.ParseGroupKinds(gk.String()); len(unreadable) > 0 {
			return // not a valid kind
		}
		id := applyset.ObjectID{GroupKind: gk, Key: key}
		got, unreadable := applyset.ParseContributions(applyset.FormatContributions([]applyset.ObjectID{id}))
		if len(unreadable) > 0 || len(got) != 1 || got[0] != id {
			t.Errorf("%v reads as %v, unreadable %q", id, got, unreadable)
		}
		_, _ = applyset.ParseContributions(name) // must not panic
	})
}

// TestCompareKinds compares the order of kinds with the order of their stored strings.
func TestCompareKinds(t *testing.T) {
	t.Parallel()
	var kinds []schema.GroupKind
	for _, kind := range []string{"A", "Ab", "AB", "A1", "Deployment", "DeploymentConfig", "Z"} {
		for _, group := range []string{"", "apps", "apps.example.com", "a-b.c", "b"} {
			kinds = append(kinds, schema.GroupKind{Group: group, Kind: kind})
		}
	}
	for _, a := range kinds {
		for _, b := range kinds {
			if got, want := applyset.CompareKinds(a, b), strings.Compare(a.String(), b.String()); got != want {
				t.Errorf("%s and %s: got %d, want %d", a, b, got, want)
			}
		}
	}
}

// TestCompareIDs compares the order of IDs with the order of their stored strings.
func TestCompareIDs(t *testing.T) {
	t.Parallel()
	var ids []applyset.ObjectID
	for _, gk := range []schema.GroupKind{{Kind: "A"}, {Kind: "A", Group: "b"}, {Kind: "Ab"}} {
		for _, namespace := range []string{"", "a", "a-b", "a.b", strings.Repeat("n", 200)} {
			for _, name := range []string{"a", "a-b", "a:b", "b", strings.Repeat("m", 250)} {
				ids = append(ids, applyset.ObjectID{GroupKind: gk, Key: types.NamespacedName{Namespace: namespace, Name: name}})
			}
		}
	}
	for _, a := range ids {
		for _, b := range ids {
			if got, want := applyset.CompareIDs(a, b), strings.Compare(a.Text(), b.Text()); got != want {
				t.Errorf("%s and %s: got %d, want %d", a, b, got, want)
			}
		}
	}
}

func BenchmarkCompareIDs(b *testing.B) {
	id := func(name string) applyset.ObjectID {
		return applyset.ObjectID{GroupKind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, Key: types.NamespacedName{Namespace: "shop", Name: name}}
	}
	one, other := id("web"), id("worker")
	b.ReportAllocs()
	for b.Loop() {
		_ = applyset.CompareIDs(one, other)
	}
}
