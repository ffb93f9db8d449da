// Command cronjob is an operator of CronJobs, which create Jobs on a schedule. It shows the use of time, and children that are kept
// as a history.
package main

import (
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/operator"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/reconcilekit/reconcilekit/examples/cronjob/api/v1"
)

//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .

func main() { cronjobs().Main() }

func cronjobs() operator.Operator {
	return operator.Operator{
		Name:        "cronjob",
		LeaseName:   "cronjob.example.com",
		AddToScheme: []func(*runtime.Scheme) error{v1.AddToScheme},
		Controllers: []*controller.Controller{declare(controller.Options{})},
	}
}
