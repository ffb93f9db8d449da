package operator_test

import (
	"context"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/operator"
)

// library is a reconciler of a singleton that plans nothing.
type library struct{}

func (library) FetchRemoteState(context.Context, reconcile.Reader, reconcile.ReconcileContext[*controller.Group]) int {
	return 0
}

func (library) PlanResources(context.Context, reconcile.ReconcileContext[*controller.Group], int) (reconcile.PlanResult, error) {
	return reconcile.PlanResult{}, nil
}

// libraryOperator is the entire program. Its main function calls libraryOperator().Main().
func libraryOperator() operator.Operator {
	return operator.Operator{
		Name:      "library",
		LeaseName: "library.example.com",
		Controllers: []*controller.Controller{
			controller.NewSingleton("library", library{}).Owns(&corev1.ConfigMap{}).Reads(&corev1.Secret{}).Build(),
		},
	}
}

// The page of an operator contains the permissions of its process, including those for leader election.
func ExampleOperator_Page() {
	page, err := libraryOperator().Page()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for _, rule := range page.Rules() {
		fmt.Println(rule.APIGroups, rule.Resources, rule.Verbs, rule.ResourceNames)
	}
	// Output:
	// [] [configmaps] [get list watch create patch delete] []
	// [] [events] [create] []
	// [] [secrets] [list watch] []
	// [coordination.k8s.io] [leases] [create] []
	// [coordination.k8s.io] [leases] [get update] [library.example.com library.example.com-shard-0]
	// [events.k8s.io] [events] [create patch] []
}

// A test runs the operator with command-line arguments. A wrong argument is an error.
func ExampleOperator_Run() {
	err := libraryOperator().Run(context.Background(), []string{"-webhook-port=many"}, os.Stdout, io.Discard)
	fmt.Println(err)
	// Output:
	// invalid value "many" for flag -webhook-port: want a number from 1 to 65535, or 0 for none; -webhook-port is: port of the webhook server, which an operator without webhooks does not start; 0 serves none
}
