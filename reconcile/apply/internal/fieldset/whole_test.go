package fieldset_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// TestLeafOfAnObject checks that an entry that ends at an object means that the object is
// atomic, or was once planned empty.
func TestLeafOfAnObject(t *testing.T) {
	t.Parallel()
	deployment := fieldset.SchemaOf(appsv1.SchemeGroupVersion.WithKind("Deployment"), nil, scheme.Scheme)
	cases := map[string]struct {
		schema            fieldset.Schema
		fields, planned   string
		wantTheSameIsOurs bool
	}{
		"LabelSelector": {deployment, `{"f:spec":{"f:selector":{}}}`, `{spec: {selector: {matchLabels: {a: b}}}}`, true},
		"NodeSelector": {
			deployment, `{"f:spec":{"f:template":{"f:spec":{"f:nodeSelector":{}}}}}`, `{spec: {template: {spec: {nodeSelector: {a: b}}}}}`, true,
		},
		"SecurityContext": {
			deployment, `{"f:spec":{"f:template":{"f:spec":{"f:securityContext":{}}}}}`,
			`{spec: {template: {spec: {securityContext: {fsGroup: 1}}}}}`, false,
		},
		"Labels":      {deployment, `{"f:spec":{"f:template":{"f:metadata":{"f:labels":{}}}}}`, `{spec: {template: {metadata: {labels: {a: b}}}}}`, false},
		"CustomKind":  {fieldset.Schema{}, `{"f:spec":{"f:selector":{}}}`, `{spec: {selector: {a: b}}}`, false},
		"CustomEmpty": {fieldset.Schema{}, `{"f:spec":{"f:selector":{}}}`, `{spec: {selector: {}}}`, true},
		"CustomList":  {fieldset.Schema{}, `{"f:spec":{"f:l":{}}}`, `{spec: {l: [{a: b}]}}`, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := fieldset.Parse([]byte(tc.fields))
			if err != nil {
				t.Fatal(err)
			}
			comparison := fieldset.Comparison{Schema: tc.schema}
			comparison.Object(set, parse(t, tc.planned), parse(t, tc.planned))
			if got := !comparison.Different(); got != tc.wantTheSameIsOurs {
				t.Errorf("owned as planned: %v, want %v", got, tc.wantTheSameIsOurs)
			}
		})
	}
}
