package oracle

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

func (k *Kind) newTyped() client.Object {
	return reflect.New(reflect.TypeOf(k.goType).Elem()).Interface().(client.Object) //nolint:forcetypeassert // it is one
}

// object returns the content as an object of the form. seed selects the Go type of a generated kind, and the Go types of numbers.
func (k *Kind) object(content map[string]any, form Form, key client.ObjectKey, seed uint64) (apply.Child, error) {
	content = runtime.DeepCopyJSON(content)
	content["apiVersion"], content["kind"] = k.gvk.ToAPIVersionAndKind()
	metadata, _ := content["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		content["metadata"] = metadata
	}
	metadata["name"], metadata["namespace"] = key.Name, key.Namespace
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // to be repeated
	switch form {
	case Typed:
		o := k.newTyped()
		return apply.Child{Object: o}, k.fill(o, content, r)
	case Configuration:
		ac := k.configuration()
		return apply.Child{Configuration: ac}, convert(content, ac)
	case Unstructured:
	}
	if r.IntN(4) == 0 {
		content = otherNumbers(content).(map[string]any) //nolint:forcetypeassert // a map stays one
	}
	return apply.Child{Object: &unstructured.Unstructured{Object: content}}, nil
}

// holds reports whether the form can represent the content.
func (k *Kind) holds(i intention, key client.ObjectKey, seed uint64) bool {
	_, err := k.object(i.content, i.form, key, seed)
	return err == nil
}

// fill sets the fields of a Go value.
func (k *Kind) fill(o client.Object, content map[string]any, r *rand.Rand) error {
	setter, ok := o.(madeUp)
	if !ok {
		return convert(content, o)
	}
	spec, has := content["spec"]
	delete(content, "spec")
	if err := convert(content, o); err != nil || !has {
		return err
	}
	value := reflect.New(k.spec.GoType(r)).Interface()
	setter.setSpec(value)
	return convert(spec, value)
}

func convert(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, to); err != nil {
		return fmt.Errorf("decode into %T: %w", to, err)
	}
	return nil
}

// otherNumbers replaces numbers by equal ones of other Go types, as authors use them in unstructured objects.
func otherNumbers(value any) any {
	switch x := value.(type) {
	case map[string]any:
		for name := range x {
			x[name] = otherNumbers(x[name])
		}
	case []any:
		for i := range x {
			x[i] = otherNumbers(x[i])
		}
	case int64:
		if x > -1<<31 && x < 1<<31 {
			return int(x)
		}
	}
	return value
}
