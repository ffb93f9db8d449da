package randomname_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/randomname"
)

// configMaps returns the objects of a run. "name of owner" sets an owner, and "name: shape" sets the shape.
func configMaps(names ...string) (out []randomname.Object) {
	for _, name := range names {
		name, shape, _ := strings.Cut(name, ": ")
		name, owner, owned := strings.Cut(name, " of ")
		o := randomname.Object{Kind: schema.GroupKind{Kind: "ConfigMap"}, Key: types.NamespacedName{Namespace: "default", Name: name}, Shape: shape}
		if owned {
			o.Owners = []randomname.Owner{{Kind: "Widget", Name: owner}}
		}
		out = append(out, o)
	}
	return out
}

// TestLearn checks that names are random if they differ in each run for the same number of similar objects.
func TestLearn(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		one, other, third []randomname.Object
		like              map[string]string // the placeholder for each name
	}{
		"a part at the end": {
			configMaps("web-x4mz", "web"), configMaps("web-7yqe", "web"), configMaps("web-22dk", "web"),
			map[string]string{"web-k3jr": "web-*", "web-7yqe": "web-*", "web": "web", "web-k3j": "web-k3j", "web-k3jrx": "web-k3jrx", "db-k3jr": "db-k3jr", "web-a-k3": "web-a-k3"},
		},
		"two names with one prefix": {
			configMaps("web-abcdefgh"), configMaps("web-abxyefgh"), configMaps("web-22223333"), map[string]string{"web-ijklmnop": "web-*"},
		},
		"a part in the middle": {
			configMaps("web-x4mz-env"), configMaps("web-7yqe-env"), configMaps("web-22dk-env"), map[string]string{"web-k3jr-env": "web-*-env", "web-k3jr": "web-k3jr"},
		},
		"the entire name": {
			configMaps("x4mzx4mz"), configMaps("7yqe7yqe"), configMaps("22dk22dk"), map[string]string{"k3jrk3jr": "*", "k3jr": "k3jr"},
		},
		"a UUID": {
			configMaps("w-6ba7b810-9dad"), configMaps("w-00c04fd4-30c8"), configMaps("w-11111111-2222"),
			map[string]string{"w-aaaaaaaa-bbbb": "w-*", "w-aaaaaaaa-wwww": "w-aaaaaaaa-wwww", "w-aaaaaaaabbbb": "w-aaaaaaaabbbb"},
		},
		"a number": {
			configMaps("web-123456"), configMaps("web-98765"), configMaps("web-555555"), map[string]string{"web-7777": "web-*", "web-seven": "web-seven"},
		},
		"a part of all runs is not random": {
			configMaps("web-x4mz", "web-conf"), configMaps("web-7yqe", "web-conf"), configMaps("web-22dk", "web-conf"), map[string]string{"web-conf": "web-conf", "web-cnof": "web-*"},
		},
		"two forms": {
			configMaps("a-x4mz", "b-7yqe"), configMaps("a-rrrr", "b-ssss"), configMaps("a-1111", "b-2222"), map[string]string{"a-k3jr": "a-*", "b-k3jr": "b-*", "c-k3jr": "c-k3jr"},
		},
		"owners with random names": {
			configMaps("a-x4mz", "b-7yqe of a-x4mz"), configMaps("a-rrrr", "b-ssss of a-rrrr"), configMaps("a-1111", "b-2222 of a-1111"),
			map[string]string{"a-k3jr": "a-*", "b-k3jr": "b-*"},
		},
		"one of a few fixed names": {configMaps("web-alpha"), configMaps("web-gamma"), configMaps("web-alpha"), map[string]string{"web-delta": "web-delta"}},
		"a counter or a word": {
			configMaps("web-1"), configMaps("web-2"), configMaps("web-3"), map[string]string{"web-4": "web-4"},
		},
		"more objects in one run": {configMaps("web-x4mz"), configMaps("web-7yqe", "web-rrrr"), configMaps("web-22dk"), map[string]string{"web-k3jr": "web-k3jr"}},
		"of another owner": {
			configMaps("web-x4mz of a", "a", "b"), configMaps("web-7yqe of b", "a", "b"), configMaps("web-22dk of a", "a", "b"), map[string]string{"web-k3jr": "web-k3jr"},
		},
		"of another shape": {configMaps("web-x4mz: .data"), configMaps("web-7yqe: .spec"), configMaps("web-22dk: .data"), map[string]string{"web-k3jr": "web-k3jr"}},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			names := &randomname.Names{}
			names.Learn(c.one, c.other, c.third)
			for name, want := range c.like {
				got, part := names.Of(schema.GroupKind{Kind: "ConfigMap"}, types.NamespacedName{Namespace: "default", Name: name})
				if got != want || strings.Replace(want, "*", part, 1) != name {
					t.Errorf("%s: got %s with the random part %q, want %s", name, got, part, want)
				}
				if got, _ := names.Of(schema.GroupKind{Kind: "Secret"}, types.NamespacedName{Namespace: "default", Name: name}); got != name {
					t.Errorf("%s of another kind: got %s", name, got)
				}
			}
		})
	}
	if got, _ := (*randomname.Names)(nil).Of(schema.GroupKind{}, types.NamespacedName{Name: "x"}); got != "x" {
		t.Errorf("without names: got %s", got)
	}
}

// TestDiffer checks that a third run is needed if the same number of objects have other names.
func TestDiffer(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		one, other []randomname.Object
		want       bool
	}{
		"the same":    {configMaps("a", "b"), configMaps("b", "a"), false},
		"other names": {configMaps("a", "b"), configMaps("a", "c"), true},
		"more":        {configMaps("a"), configMaps("a", "c"), false},
	} {
		if got := randomname.Differ(c.one, c.other); got != c.want {
			t.Errorf("%s: got %t, want %t", title, got, c.want)
		}
	}
}
