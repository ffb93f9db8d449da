package crdschema

import (
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Schema is the schema of one version of a definition. It is safe for concurrent use.
type Schema struct {
	structure *structuralschema.Structural
	values    validation.SchemaValidator
	status    validation.SchemaValidator // nil if the schema has no status
	rules     func() *cel.Validator      // compiled on first use; nil if there are none
}

// New returns the schema of a version. It returns an error if an API server would reject the definition because the schema is not
// structural.
func New(props *apiextensionsv1.JSONSchemaProps) (*Schema, error) {
	internal, err := received(props)
	if err != nil {
		return nil, err
	}
	structure, err := structuralschema.NewStructural(internal)
	if err != nil {
		return nil, fmt.Errorf("the schema is not structural: %w", err)
	}
	if errs := structuralschema.ValidateStructural(nil, structure); len(errs) > 0 {
		return nil, fmt.Errorf("the schema is not structural: %w", errs.ToAggregate())
	}
	if err := defaulting.PruneDefaults(structure); err != nil {
		return nil, fmt.Errorf("the defaults of the schema: %w", err)
	}
	s := &Schema{structure: structure}
	if s.values, _, err = validation.NewSchemaValidator(internal); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	if status, ok := internal.Properties["status"]; ok {
		if s.status, _, err = validation.NewSchemaValidator(&status); err != nil {
			return nil, fmt.Errorf("read the schema of the status: %w", err)
		}
	}
	s.rules = sync.OnceValue(func() *cel.Validator { return cel.NewValidator(structure, true, celconfig.PerCallLimit) })
	return s, nil
}

// received returns the schema as a server has it, after a conversion to JSON.
func received(props *apiextensionsv1.JSONSchemaProps) (*apiextensions.JSONSchemaProps, error) {
	data, err := json.Marshal(props)
	if err != nil {
		return nil, fmt.Errorf("encode the schema: %w", err)
	}
	var sent apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(data, &sent); err != nil {
		return nil, fmt.Errorf("decode the schema: %w", err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&sent, &internal, nil); err != nil {
		return nil, fmt.Errorf("convert the schema: %w", err)
	}
	return &internal, nil
}

// Complete sets the defaults of an object and prunes unknown fields.
func (s *Schema) Complete(object map[string]any) {
	defaulting.Default(object, s.structure)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.structure)
	pruning.Prune(object, s.structure, true)
}

// Enum returns the values that the schema allows for the field at a path; none if it has no enum. The path of a list element contains its
// index.
func (s *Schema) Enum(path []string) []any {
	at := s.structure
	for _, key := range path {
		property, known := at.Properties[key]
		switch {
		case known:
			at = &property
		case at.Items != nil:
			at = at.Items
		case at.AdditionalProperties != nil && at.AdditionalProperties.Structural != nil:
			at = at.AdditionalProperties.Structural
		default:
			return nil
		}
	}
	if at.ValueValidation == nil {
		return nil
	}
	var out []any
	for _, value := range at.ValueValidation.Enum {
		out = append(out, value.Object)
	}
	return out
}
