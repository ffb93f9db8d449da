package apiserver

import (
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	applyconfigurations "k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// crdKind is one served version of a definition.
type crdKind struct {
	gvk       schema.GroupVersionKind
	plural    string
	cluster   bool
	status    bool
	structure *apiextensionsv1.JSONSchemaProps
}

// crdKinds lists the served versions of definitions.
func crdKinds(definitions []*apiextensionsv1.CustomResourceDefinition) []crdKind {
	var kinds []crdKind
	for _, crd := range definitions {
		for _, version := range crd.Spec.Versions {
			if !version.Served {
				continue
			}
			k := crdKind{
				gvk:     schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind},
				plural:  crd.Spec.Names.Plural,
				cluster: crd.Spec.Scope == apiextensionsv1.ClusterScoped,
				status:  version.Subresources != nil && version.Subresources.Status != nil,
			}
			if version.Schema != nil {
				k.structure = version.Schema.OpenAPIV3Schema
			}
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// converters select the schema for the field ownership of a kind: that of a built-in kind, that of its definition, or else one deduced
// from the value, with atomic lists.
type converters struct {
	builtin, custom, deduced managedfields.TypeConverter
	scheme                   *runtime.Scheme // the built-in kinds
	models                   map[string]*spec.Schema
}

func newConverters(kinds []crdKind) (*converters, error) {
	c := &converters{deduced: managedfields.NewDeducedTypeConverter(), scheme: runtime.NewScheme(), models: map[string]*spec.Schema{}}
	if err := clientgoscheme.AddToScheme(c.scheme); err != nil {
		return nil, fmt.Errorf("fake API server: %w", err)
	}
	c.builtin = applyconfigurations.NewTypeConverter(c.scheme)
	for _, k := range kinds {
		if k.structure == nil {
			continue
		}
		model, err := k.model()
		if err != nil {
			return nil, fmt.Errorf("fake API server: schema of %s: %w", k.gvk, err)
		}
		c.models[k.gvk.String()] = model
	}
	var err error
	if c.custom, err = managedfields.NewTypeConverter(c.models, true); err != nil {
		return nil, fmt.Errorf("fake API server: schemas of the CRDs: %w", err)
	}
	return c, nil
}

// ObjectToTyped implements managedfields.TypeConverter.
func (c *converters) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	gvk := obj.GetObjectKind().GroupVersionKind()
	switch {
	case c.scheme.Recognizes(gvk):
		return c.builtin.ObjectToTyped(obj, opts...)
	case c.models[gvk.String()] != nil:
		return c.custom.ObjectToTyped(obj, opts...)
	}
	return c.deduced.ObjectToTyped(obj, opts...)
}

// TypedToObject implements managedfields.TypeConverter. It is the same for all kinds.
func (c *converters) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	return c.deduced.TypedToObject(value)
}

// model returns the schema of a kind in the format of field management, with that of the metadata filled in.
func (k crdKind) model() (*spec.Schema, error) {
	data, err := json.Marshal(k.structure)
	if err != nil {
		return nil, err
	}
	var content map[string]any
	if err := json.Unmarshal(data, &content); err != nil {
		return nil, err
	}
	properties, _ := content["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
	}
	text := map[string]any{"type": "string"}
	properties["apiVersion"], properties["kind"], properties["metadata"] = text, text, metadataSchema()
	content["properties"] = properties
	content["x-kubernetes-group-version-kind"] = []any{
		map[string]any{"group": k.gvk.Group, "version": k.gvk.Version, "kind": k.gvk.Kind},
	}
	data, err = json.Marshal(content)
	if err != nil {
		return nil, err
	}
	model := &spec.Schema{}
	return model, json.Unmarshal(data, model)
}

// metadataSchema returns the schema of ObjectMeta with the merge rules of its lists and maps; other fields are preserved.
func metadataSchema() map[string]any {
	text := map[string]any{"type": "string"}
	texts := map[string]any{"type": "object", "additionalProperties": text}
	return map[string]any{
		"type": "object", "x-kubernetes-preserve-unknown-fields": true,
		"properties": map[string]any{
			"labels": texts, "annotations": texts,
			"finalizers": map[string]any{"type": "array", "items": text, "x-kubernetes-list-type": "set"},
			"ownerReferences": map[string]any{
				"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"uid"},
				"items": map[string]any{"type": "object", "properties": map[string]any{
					"apiVersion": text, "kind": text, "name": text, "uid": text,
					"controller":         map[string]any{"type": "boolean"},
					"blockOwnerDeletion": map[string]any{"type": "boolean"},
				}, "x-kubernetes-map-type": "atomic"},
			},
		},
	}
}
