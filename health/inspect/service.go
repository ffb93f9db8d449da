package inspect

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// service inspects a Service. Only one of type LoadBalancer has to wait for an address. Nil is a missing downstream dependency.
func service(s *corev1.Service) health.Component {
	switch {
	case s == nil:
		return missing("ServiceNotFound", "Service")
	case s.DeletionTimestamp != nil:
		return terminating("Service")
	case s.Spec.Type != corev1.ServiceTypeLoadBalancer:
		return ready("ServiceReady", "Service exists")
	}
	for _, ingress := range s.Status.LoadBalancer.Ingress {
		if ingress.IP != "" || ingress.Hostname != "" {
			return ready("ServiceReady", "Load balancer has an address")
		}
	}
	return health.Component{State: health.Pending, Reason: "LoadBalancerPending", Message: "Load balancer has no address yet"}
}
