package declaration_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

func TestFilter(t *testing.T) {
	t.Parallel()
	key := client.ObjectKey{Namespace: "a", Name: "x"}
	of := labels.Set{"app": "shop"}
	for name, c := range map[string]struct {
		options []client.ListOption
		matches bool
		text    string
	}{
		"labels":         {[]client.ListOption{client.MatchingLabels{"app": "shop"}}, true, "app=shop"},
		"other labels":   {[]client.ListOption{client.MatchingLabels{"app": "bank"}}, false, "app=bank"},
		"namespace":      {[]client.ListOption{client.InNamespace("a")}, true, "namespace a"},
		"other one":      {[]client.ListOption{client.InNamespace("b")}, false, "namespace b"},
		"name":           {[]client.ListOption{client.MatchingFields{"metadata.name": "x"}}, true, "metadata.name=x"},
		"not the name":   {[]client.ListOption{client.MatchingFieldsSelector{Selector: fields.OneTermNotEqualSelector("metadata.name", "x")}}, false, "metadata.name!=x"},
		"another's name": {[]client.ListOption{client.MatchingFieldsSelector{Selector: fields.OneTermNotEqualSelector("metadata.name", "y")}}, true, "metadata.name!=y"},
		"field of it":    {[]client.ListOption{client.MatchingFields{"metadata.namespace": "b"}}, false, "metadata.namespace=b"},
		"content":        {[]client.ListOption{client.MatchingFields{"type": "Opaque"}}, true, "type=Opaque"},
		"all": {
			[]client.ListOption{client.MatchingLabels{"app": "shop"}, client.MatchingFields{"type": "Opaque"}, client.InNamespace("a")},
			true,
			"app=shop and type=Opaque and namespace a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := declaration.FilterOf(c.options)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Matches(key, of); got != c.matches {
				t.Errorf("matches %s with %s: %t, want %t", key, of, got, c.matches)
			}
			if f.String() != c.text {
				t.Errorf("got %q, want %q", f, c.text)
			}
			by := f.ByObject()
			if (by.Label == nil) != (f.Labels == nil) || (by.Field == nil) != (f.Fields == nil) || len(by.Namespaces) != len(f.Namespace) {
				t.Errorf("the cache is asked for %+v", by)
			}
		})
	}
	for name, options := range map[string][]client.ListOption{
		"nothing":        nil,
		"nothing either": {client.MatchingFields{}},
		"limit":          {client.InNamespace("a"), client.Limit(1)},
		"continue":       {client.InNamespace("a"), client.Continue("x")},
		"shared objects": {client.InNamespace("a"), client.UnsafeDisableDeepCopy},
	} {
		if f, err := declaration.FilterOf(options); err == nil {
			t.Errorf("%s: got %v, want an error", name, f)
		}
	}
	if none := (*declaration.Filter)(nil); none.String() != "" {
		t.Errorf("none is %q", none)
	}
}
