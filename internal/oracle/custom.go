package oracle

import (
	"fmt"
	"math/rand/v2"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/oracle/shape"
	"github.com/reconcilekit/reconcilekit/internal/plural"
)

const customGroup = "oracle.reconcilekit.dev"

// custom is the Go type of a generated kind. Scheme and engine identify kinds by their Go types, so each kind has its own, distinguished
// by K. The spec of a planned object is a pointer to a generated struct, that of a read object is plain JSON.
type custom[K any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              any `json:"spec,omitempty"`
}

// DeepCopyObject copies the object; a planned spec is shared.
func (c *custom[K]) DeepCopyObject() runtime.Object {
	out := *c
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if m, ok := c.Spec.(map[string]any); ok {
		out.Spec = runtime.DeepCopyJSON(m)
	}
	return &out
}

// customList is the list of a generated kind.
type customList[K any] struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []custom[K] `json:"items"`
}

// DeepCopyObject copies the list.
func (l *customList[K]) DeepCopyObject() runtime.Object {
	out := &customList[K]{TypeMeta: l.TypeMeta, ListMeta: l.ListMeta}
	for i := range l.Items {
		item, _ := l.Items[i].DeepCopyObject().(*custom[K])
		out.Items = append(out.Items, *item)
	}
	return out
}

func (*custom[K]) list() runtime.Object { return &customList[K]{} }

func (c *custom[K]) setSpec(spec any) { c.Spec = spec }

// madeUp is implemented by the Go types of generated kinds.
type madeUp interface {
	client.Object
	setSpec(spec any)
	list() runtime.Object
}

type (
	typeA struct{}
	typeB struct{}
	typeC struct{}
	typeD struct{}
	typeE struct{}
	typeF struct{}
	typeG struct{}
	typeH struct{}
	typeI struct{}
	typeJ struct{}
	typeK struct{}
	typeL struct{}
)

// customTypes returns the Go types for generated kinds.
func customTypes() []madeUp {
	return []madeUp{
		&custom[typeA]{}, &custom[typeB]{}, &custom[typeC]{}, &custom[typeD]{}, &custom[typeE]{}, &custom[typeF]{},
		&custom[typeG]{}, &custom[typeH]{}, &custom[typeI]{}, &custom[typeJ]{}, &custom[typeK]{}, &custom[typeL]{},
	}
}

// customKinds generates n kinds. The first ones have a Go type in the scheme. The last one is fixed.
func customKinds(seed uint64, n int, scheme *runtime.Scheme) []*Kind {
	types := customTypes()
	gv := schema.GroupVersion{Group: customGroup, Version: "v1"}
	metav1.AddToGroupVersion(scheme, gv)
	out := make([]*Kind, 0, n)
	for i := range n {
		r := rand.New(rand.NewPCG(seed, uint64(i))) //nolint:gosec // to be repeated
		spec := shape.Random(r)
		k := &Kind{gvk: gv.WithKind(fmt.Sprintf("Custom%02d", i)), shape: shape.Object(spec), custom: true}
		k.bases = []map[string]any{{"spec": spec.Zero()}}
		if i < len(types) {
			k.goType, k.spec = types[i], spec
			scheme.AddKnownTypeWithName(k.gvk, types[i])
			scheme.AddKnownTypeWithName(gv.WithKind(k.gvk.Kind+"List"), types[i].list())
		}
		out = append(out, k)
	}
	return append(out, fixedKind(scheme))
}

// definition returns the CRD of a generated kind.
func (k *Kind) definition() *apiextensionsv1.CustomResourceDefinition {
	resource := plural.Of(k.gvk.Kind)
	keep := true
	spec := k.shape.Properties["spec"].Schema()
	whole := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"spec": spec, "status": {Type: "object", XPreserveUnknownFields: &keep},
	}}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: resource + "." + customGroup},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: customGroup, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: resource, Kind: k.gvk.Kind},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: k.gvk.Version, Served: true, Storage: true,
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: whole},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}
