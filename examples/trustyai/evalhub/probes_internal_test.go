package evalhub

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestProbes: a hub has 5 minutes to start, and 5 s to answer.
func TestProbes(t *testing.T) {
	t.Parallel()
	get := &corev1.HTTPGetAction{Path: "/api/v1/health", Port: intstr.FromInt32(8443), Scheme: corev1.URISchemeHTTPS}
	want := map[string]*corev1.Probe{
		"startup":   {ProbeHandler: corev1.ProbeHandler{HTTPGet: get}, PeriodSeconds: 10, TimeoutSeconds: 5, FailureThreshold: 30},
		"readiness": {ProbeHandler: corev1.ProbeHandler{HTTPGet: get}, PeriodSeconds: 10, TimeoutSeconds: 5, FailureThreshold: 3},
	}
	got := map[string]*corev1.Probe{"startup": healthProbe(30), "readiness": healthProbe(3)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("probes (-want +got):\n%s", diff)
	}
}
