package crdschema

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Validate returns the errors of a new object.
func (s *Schema) Validate(ctx context.Context, object map[string]any) field.ErrorList {
	errs := validation.ValidateCustomResource(nil, object, s.values)
	errs = append(errs, objectmeta.Validate(ctx, nil, object, s.structure, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structure, object)...)
	return s.checkRules(ctx, errs, nil, object)
}

// ValidateUpdate returns the errors of an update. An unchanged invalid value counts as valid.
func (s *Schema) ValidateUpdate(ctx context.Context, old, object map[string]any) field.ErrorList {
	correlated := s.correlate(old, object)
	errs := validation.ValidateCustomResourceUpdate(nil, object, old, s.values, validation.WithRatcheting(correlated))
	errs = append(errs, objectmeta.Validate(ctx, nil, object, s.structure, false)...)
	errs = append(errs, s.lists(old, object)...)
	return s.checkRules(ctx, errs, old, object, cel.WithRatcheting(correlated))
}

// ValidateStatus returns the errors of an update of the status subresource. Everything except the status is that of the old object.
func (s *Schema) ValidateStatus(ctx context.Context, old, object map[string]any) field.ErrorList {
	correlated := s.correlate(old, object)
	var errs field.ErrorList
	if status, ok := object["status"]; ok && s.status != nil {
		errs = validation.ValidateCustomResourceUpdate(field.NewPath("status"), status, old["status"], s.status,
			validation.WithRatcheting(correlated.Key("status")))
	}
	errs = append(errs, s.lists(old, object)...)
	return s.checkRules(ctx, errs, old, object, cel.WithRatcheting(correlated))
}

func (s *Schema) correlate(old, object map[string]any) *common.CorrelatedObject {
	return common.NewCorrelatedObject(object, old, &model.Structural{Structural: s.structure})
}

// lists finds duplicates in the sets and map lists of an object, unless old had some.
func (s *Schema) lists(old, object map[string]any) field.ErrorList {
	errs := listtype.ValidateListSetsAndMaps(nil, s.structure, object)
	if len(errs) > 0 && len(listtype.ValidateListSetsAndMaps(nil, s.structure, old)) > 0 {
		return nil
	}
	return errs
}

// checkRules adds the errors of the CEL rules. It skips them for an object with errors that would make them fail.
func (s *Schema) checkRules(ctx context.Context, errs field.ErrorList, old, object map[string]any, options ...cel.Option) field.ErrorList {
	rules := s.rules()
	if rules == nil {
		return errs
	}
	for _, err := range errs {
		switch err.Type { //nolint:exhaustive // the others stop nothing
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; "+
				"correct the existing errors to complete validation"))
		}
	}
	var before any // nil, not an empty map, for a new object: transition rules apply only to updates
	if old != nil {
		before = old
	}
	found, _ := rules.Validate(ctx, nil, s.structure, object, before, celconfig.RuntimeCELCostBudget, options...)
	return append(errs, found...)
}
