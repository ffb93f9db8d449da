package crdschema_test

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/crdschema"
)

func Example() {
	schema, err := crdschema.New(&apiextensionsv1.JSONSchemaProps{
		Type: "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"size": {
				Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"small"`)},
				XValidations: apiextensionsv1.ValidationRules{{Rule: "self == oldSelf", Message: "is immutable"}},
			},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	before := map[string]any{"unknown": true}
	schema.Complete(before)
	fmt.Println(before)
	fmt.Println(schema.ValidateUpdate(context.Background(), before, map[string]any{"size": "large"}).ToAggregate())
	// Output:
	// map[size:small]
	// size: Invalid value: "large": is immutable
}
