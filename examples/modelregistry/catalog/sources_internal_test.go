package catalog

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWithoutRetired(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ in, want, err string }{
		"Nothing to remove": {in: "catalogs: [{id: a}] # mine"},
		"Empty":             {in: ""},
		"Removed": {
			in:   "catalogs:\n- {name: D, id: default_catalog, type: yaml}\n- {name: C, id: c, enabled: false, labels: [l]}\nnamedQueries: {z: 1}\nlabels: [{name: q}]\n",
			want: "catalogs:\n- enabled: false\n  id: c\n  labels:\n  - l\n  name: C\nlabels:\n- name: q\nnamedQueries:\n  z: 1\n",
		},
		"The only entry": {in: "catalogs: [{id: default_catalog}]", want: "{}\n"},
		"Of models": {
			in:   "model_catalogs: [{id: default_catalog}, {id: a, properties: {p: q}}]",
			want: "model_catalogs:\n- id: a\n  properties:\n    p: q\n",
		},
		"Not for servers": {in: "mcp_catalogs: [{id: default_catalog}]"},
		"Kept with servers": {
			in:   "catalogs: [{id: default_catalog}]\nmcp_catalogs: [{id: default_catalog}]",
			want: "mcp_catalogs:\n- id: default_catalog\n",
		},
		"Unknown key":             {in: "catalogs: [{id: default_catalog, unknownKey: 1}]", err: "unknownKey"},
		"Unknown key of document": {in: "catalogs: [{id: default_catalog}]\nmore: 1", err: "more"},
		"No YAML":                 {in: "a: b: c", err: `data["sources.yaml"]`},
		"Twice":                   {in: "catalogs: []\ncatalogs: [{id: default_catalog}]", err: "catalogs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := withoutRetired(test.in)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want one with %q", err, test.err)
			}
			again, err := withoutRetired(got)
			if again != "" || err != nil {
				t.Errorf("not stable: %q, %v", again, err)
			}
		})
	}
}

// TestUserDocument checks that the document of a user is created if it is missing, and changed only to remove the
// retired entry.
func TestUserDocument(t *testing.T) {
	t.Parallel()
	found := func(text string) reconcile.FetchResult[*corev1.ConfigMap] {
		return reconcile.FetchResult[*corev1.ConfigMap]{Value: &corev1.ConfigMap{Data: map[string]string{sourcesKey: text}}}
	}
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, modelsName)
	for name, test := range map[string]struct {
		found                   reconcile.FetchResult[*corev1.ConfigMap]
		missing, written, fails bool
	}{
		"missing":           {found: reconcile.FetchResult[*corev1.ConfigMap]{Error: missing}, missing: true},
		"not read":          {found: reconcile.FetchResult[*corev1.ConfigMap]{Error: errors.New("no connection")}},
		"the user's":        {found: found("catalogs: [{id: a}]")},
		"no document":       {found: found("a: b: c"), fails: true},
		"the retired entry": {found: found("catalogs: [{id: default_catalog}]"), written: true},
	} {
		fetched := Fetched{documents: map[string]reconcile.FetchResult[*corev1.ConfigMap]{modelsName: test.found, serversName: found("")}}
		fetched.platform.Error, fetched.server.Error, fetched.database.Error = missing, missing, missing
		obs := (&Reconciler{}).ComposeState(t.Context(), rcontext{}, fetched)
		if made := slices.Contains(obs.facts.missing, modelsName); made != test.missing {
			t.Errorf("%s: created %t, want %t", name, made, test.missing)
		}
		if written := len(obs.documents) == 1 && obs.documents[0].Data[sourcesKey] == "{}\n"; written != test.written {
			t.Errorf("%s: written %t, want %t: %v", name, written, test.written, obs.documents)
		}
		if fails := strings.Contains(obs.skipped, modelsName); fails != test.fails {
			t.Errorf("%s: skipped %q, want a reason: %t", name, obs.skipped, test.fails)
		}
		off := &Reconciler{settings: Settings{Disabled: true}}
		if obs := off.ComposeState(t.Context(), rcontext{}, fetched); len(obs.documents) > 0 {
			t.Errorf("%s: the disabled catalog writes %v", name, obs.documents)
		}
	}
}

func TestUsable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, key, want string
	}{
		{"a", "sources.yaml", ""},
		{strings.Repeat("a", 55), "sources.yaml", ""},
		{strings.Repeat("a", 56), "sources.yaml", "its name must have at most 55 characters"},
		{"a.b", "sources.yaml", "its name is not a DNS label"},
		{"a", "other.yaml", `data["sources.yaml"] is missing`},
		{"model-catalog-sources", "sources.yaml", "it is already mounted"},
		{"mcp-catalog-sources", "sources.yaml", "it is already mounted"},
		{"default-catalog-sources", "sources.yaml", "it is already mounted"},
	} {
		source := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: test.name}, Data: map[string]string{test.key: ""}}
		err := usable(source)
		if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s with %s: %v, want %q", test.name, test.key, err, test.want)
		}
	}
}
