package oracle

import (
	"context"
	"fmt"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/internal/oracle/shape"
)

// Kind is a kind of the sequences' children.
type Kind struct {
	gvk    schema.GroupVersionKind
	shape  *shape.Shape
	custom bool
	// goType is an object of the kind's Go type; nil if there is none.
	goType client.Object
	// spec is the shape for the Go type of a generated kind.
	spec *shape.Shape
	// configuration returns an empty apply configuration; nil if there is none.
	configuration func() runtime.ApplyConfiguration
	bases         []map[string]any
}

// openKinds reads the schemas of the kinds from the server. The bases use each of the pods.
func openKinds(ctx context.Context, d discovery.DiscoveryInterface, scheme *runtime.Scheme, all []everyday, pods ...string) ([]*Kind, error) {
	documents := map[schema.GroupVersion][]byte{}
	out := make([]*Kind, 0, len(all))
	for _, e := range all {
		gvk, err := apiutil.GVKForObject(e.goType, scheme)
		if err != nil {
			return nil, err
		}
		gv := gvk.GroupVersion()
		if documents[gv] == nil {
			path := "/openapi/v3/apis/" + gv.String()
			if gv.Group == "" {
				path = "/openapi/v3/api/" + gv.Version
			}
			if documents[gv], err = d.RESTClient().Get().AbsPath(path).DoRaw(ctx); err != nil {
				return nil, fmt.Errorf("read %s: %w", path, err)
			}
		}
		s, err := shape.FromOpenAPI(documents[gv], gvk)
		if err != nil {
			return nil, err
		}
		out = append(out, &Kind{gvk: gvk, shape: s, goType: e.goType, configuration: e.configuration, bases: e.contents(pods...)})
	}
	return out, nil
}

// Form is a Go representation of a planned object.
type Form string

// The forms.
const (
	Typed         Form = "typed"
	Unstructured  Form = "unstructured"
	Configuration Form = "apply configuration"
)

// forms returns the possible forms of the kind.
func (k *Kind) forms() []Form {
	out := []Form{Unstructured}
	if k.goType != nil {
		out = append(out, Typed, Typed)
	}
	if k.configuration != nil {
		out = append(out, Configuration)
	}
	return out
}

// base returns the initial content of a plan.
func (k *Kind) base(r *rand.Rand) map[string]any {
	return runtime.DeepCopyJSON(k.bases[r.IntN(len(k.bases))])
}

// newObject returns an empty object to read into, typed if the scheme has a type and the form is not unstructured, as the engine does.
func (k *Kind) newObject(form Form) client.Object {
	if form == Unstructured || k.goType == nil {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(k.gvk)
		return u
	}
	return k.newTyped()
}
