// Command aim is the operator of AIMService.
package main

import (
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/operator"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
)

//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .

func main() { aim().Main() }

func aim() operator.Operator {
	return operator.Operator{
		Name:        "aim",
		LeaseName:   "aim-engine.aim.eai.amd.com",
		AddToScheme: []func(*runtime.Scheme) error{aimservice.AddToScheme},
		Controllers: []*controller.Controller{aimservice.New()},
		Describe: func(page *dataflow.Page) error {
			page.ClusterResources = []string{
				"aimclustermodels.aim.eai.amd.com", "aimclusterruntimeconfigs.aim.eai.amd.com", "aimclusterservicetemplates.aim.eai.amd.com",
			}
			return nil
		},
	}
}
