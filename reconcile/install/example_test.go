package install_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/install"
)

// The page of an operator comes from operator.Operator.Page. A test writes the files and compares them.
func ExampleFiles() {
	files, err := install.Files(dataflow.Page{Name: "library"}, install.Config{Image: "library:v1"})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Print(files["config/kustomization.yaml"])
	// Output:
	// # Generated from the declarations of the controllers. Do not edit.
	// apiVersion: kustomize.config.k8s.io/v1beta1
	// kind: Kustomization
	// resources:
	//   - manager/namespace.yaml
	//   - manager/deployment.yaml
	//   - manager/disruption_budget.yaml
	//   - manager/service_account.yaml
	//   - network/metrics_service.yaml
	//   - network/policy.yaml
	//   - rbac/metrics.yaml
	//   - rbac/role.yaml
	//   - rbac/role_binding.yaml
}
