package values_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/values"
)

// definition is a CRD in the format of controller-gen.
const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: gateway.networking.k8s.io
  names: {kind: GatewayClass, plural: gatewayclasses}
  scope: Cluster
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [controllerName]
            properties:
              controllerName: {type: string, pattern: "^[a-z]+\\.example/[a-z]+$"}
              description: {type: string, maxLength: 64}
`

// test is a fake *testing.T.
type test struct{ testing.TB }

func (test) Helper()                  {}
func (test) Logf(string, ...any)      {}
func (test) Fatal(args ...any)        { panic(fmt.Sprint(args...)) }
func (test) Context() context.Context { return context.Background() }

// A property test checks a property for each object that the API server accepts.
func Example() {
	var t test // the parameter of func TestAnyClass(t *testing.T)
	folder, err := os.MkdirTemp("", "crd")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := os.WriteFile(filepath.Join(folder, "crd.yaml"), []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := gatewayv1.Install(scheme); err != nil {
		t.Fatal(err)
	}
	for _, class := range values.Of[*gatewayv1.GatewayClass](t, scheme, []string{folder}, 3) {
		_, name, found := strings.Cut(string(class.Spec.ControllerName), ".example/")
		fmt.Println(class.Name, found && name != "")
	}
	// Output:
	// value-1 true
	// value-2 true
	// value-3 true
}
