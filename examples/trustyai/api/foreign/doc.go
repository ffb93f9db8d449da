// Package foreign declares the fields that the operator uses of kinds of other projects. It never sends other fields. The Go modules
// of these projects require other versions of Kubernetes.
//
// +kubebuilder:object:generate=true
package foreign

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var builders = []*scheme.Builder{
	(&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "route.openshift.io", Version: "v1"}}).Register(&Route{}, &RouteList{}),
	(&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "serving.kserve.io", Version: "v1beta1"}}).
		Register(&InferenceService{}, &InferenceServiceList{}),
	(&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "serving.kserve.io", Version: "v1alpha1"}}).
		Register(&ServingRuntime{}, &ServingRuntimeList{}),
	(&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "monitoring.coreos.com", Version: "v1"}}).
		Register(&ServiceMonitor{}, &ServiceMonitorList{}),
	(&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "networking.istio.io", Version: "v1beta1"}}).
		Register(&DestinationRule{}, &DestinationRuleList{}, &VirtualService{}, &VirtualServiceList{}),
	(&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "networking.istio.io", Version: "v1alpha3"}}).
		Register(&EnvoyFilter{}, &EnvoyFilterList{}),
	(&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "mcp.kuadrant.io", Version: "v1alpha1"}}).
		Register(&MCPGatewayExtension{}, &MCPGatewayExtensionList{}),
	(&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "kueue.x-k8s.io", Version: "v1beta1"}}).Register(&Workload{}, &WorkloadList{}),
}

// AddToScheme registers the kinds of this package with a scheme.
func AddToScheme(s *runtime.Scheme) error {
	for _, b := range builders {
		if err := b.AddToScheme(s); err != nil {
			return err
		}
	}
	return nil
}
