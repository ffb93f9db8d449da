package pipeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// TestOverridden checks that the message names each object, path, stored value and planned value, and that its length is limited.
func TestOverridden(t *testing.T) {
	t.Parallel()
	const intro = "All components are ready, but a mutating webhook or policy, or the API server, changes what is planned: "
	image := apply.FieldChange{Path: ".spec.image", From: `"mirror/web"`, To: `"web"`}
	object := func(name string, fields ...apply.FieldChange) apply.ObjectResult {
		return apply.ObjectResult{Overridden: fields, Outcome: apply.OutcomeUnchanged, Decision: apply.Decision{
			GVK: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Key: types.NamespacedName{Namespace: "shop", Name: name},
		}}
	}
	for name, c := range map[string]struct {
		objects []apply.ObjectResult
		want    string
	}{
		"nothing":   {objects: []apply.ObjectResult{object("a"), object("b")}},
		"one field": {[]apply.ObjectResult{object("a"), object("b", image)}, intro + `Pod shop/b .spec.image is "mirror/web", planned "web"`},
		"a field that was removed": {
			[]apply.ObjectResult{object("a", apply.FieldChange{Path: ".spec.x", To: "1"})}, intro + "Pod shop/a .spec.x is missing, planned 1",
		},
		"many": {
			[]apply.ObjectResult{object("a", image, image, image), object("b", image, image, image), object("c", image, image, image), object("d", image, image, image)},
			intro + `Pod shop/a .spec.image is "mirror/web", planned "web"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := overridden(&apply.Result{Objects: c.objects})
			if name == "many" { // compare only the beginning and the length
				if len(got) > 1024 {
					t.Errorf("got %d bytes", len(got))
				}
				got = got[:len(c.want)]
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
