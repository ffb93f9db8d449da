package container_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/reconcilekit/reconcilekit/layers/container"
)

func TestEnv(t *testing.T) {
	t.Parallel()
	secret := corev1.EnvVar{Name: "ARGS", ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{Key: "args", LocalObjectReference: corev1.LocalObjectReference{Name: "s"}},
	}}
	args := func(value string) []corev1.EnvVar { return []corev1.EnvVar{{Name: "ARGS", Value: value}} }
	for name, tc := range map[string]struct {
		reason string
		lists  [][]corev1.EnvVar // the most specific first
		want   []corev1.EnvVar
	}{
		"None":  {reason: "no layers", lists: [][]corev1.EnvVar{nil, {}}},
		"Order": {reason: "the order is that of the least specific layer", lists: [][]corev1.EnvVar{{{Name: "C", Value: "2"}, {Name: "B", Value: "2"}}, {{Name: "B", Value: "1"}, {Name: "A", Value: "1"}}}, want: []corev1.EnvVar{{Name: "B", Value: "2"}, {Name: "A", Value: "1"}, {Name: "C", Value: "2"}}},
		"Twice": {reason: "the last entry of a name wins", lists: [][]corev1.EnvVar{{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}}}, want: []corev1.EnvVar{{Name: "A", Value: "2"}}},
		"Empty": {reason: "an explicit empty value wins", lists: [][]corev1.EnvVar{{{Name: "A"}}, {{Name: "A", Value: "1"}}}, want: []corev1.EnvVar{{Name: "A"}}},
		"JSON":  {reason: "objects merge in depth", lists: [][]corev1.EnvVar{args(`{"a":2,"n":{"y":2}}`), args(`{"a":1,"b":1,"n":{"x":1,"y":1}}`)}, want: args(`{"a":2,"b":1,"n":{"x":1,"y":2}}`)},
		"NotJSON": {
			reason: "a value that is not a JSON object replaces the entire value", lists: [][]corev1.EnvVar{args("--fast"), args(`{"a":1}`)}, want: args("--fast"),
		},
		"Null":     {reason: "null is not a JSON object", lists: [][]corev1.EnvVar{args(`{"a":1}`), args("null")}, want: args(`{"a":1}`)},
		"FromElse": {reason: "a valueFrom variable is not merged", lists: [][]corev1.EnvVar{args(`{"a":1}`), {secret}}, want: args(`{"a":1}`)},
		"ToElse":   {reason: "nothing is merged into a valueFrom variable", lists: [][]corev1.EnvVar{{secret}, args(`{"a":1}`)}, want: []corev1.EnvVar{secret}},
		"Plain":    {reason: "only named variables merge", lists: [][]corev1.EnvVar{{{Name: "X", Value: `{"a":1}`}}, {{Name: "X", Value: `{"b":1}`}}}, want: []corev1.EnvVar{{Name: "X", Value: `{"a":1}`}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := container.Env{JSON: []string{"ARGS"}}.Merge(tc.lists...)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func TestResources(t *testing.T) {
	t.Parallel()
	type requirements = corev1.ResourceRequirements
	base := &requirements{Requests: list("cpu", "4", "example.com/gpu", "1"), Limits: list("memory", "8Gi", "example.com/gpu", "1")}
	for name, tc := range map[string]struct {
		reason string
		layers []*requirements // the most specific first
		want   requirements
	}{
		"None":      {reason: "no layers", layers: []*requirements{nil, {}}},
		"One":       {reason: "a single layer is unchanged", layers: []*requirements{base}, want: *base},
		"ByName":    {reason: "each resource name is merged separately", layers: []*requirements{{Requests: list("cpu", "8"), Limits: list("cpu", "9")}, nil, base}, want: requirements{Requests: list("cpu", "8", "example.com/gpu", "1"), Limits: list("cpu", "9", "memory", "8Gi", "example.com/gpu", "1")}},
		"Request":   {reason: "a request of an extended resource moves the limit", layers: []*requirements{{Requests: list("example.com/gpu", "2")}, base}, want: requirements{Requests: list("cpu", "4", "example.com/gpu", "2"), Limits: list("memory", "8Gi", "example.com/gpu", "2")}},
		"Limit":     {reason: "a limit of an extended resource moves the request", layers: []*requirements{{Limits: list("example.com/gpu", "2")}, base}, want: requirements{Requests: list("cpu", "4", "example.com/gpu", "2"), Limits: list("memory", "8Gi", "example.com/gpu", "2")}},
		"Overcount": {reason: "a layer that sets both keeps both", layers: []*requirements{{Requests: list("example.com/gpu", "1"), Limits: list("example.com/gpu", "2")}}, want: requirements{Requests: list("example.com/gpu", "1"), Limits: list("example.com/gpu", "2")}},
		"HugePages": {reason: "huge pages are not overcommitted", layers: []*requirements{{Limits: list("hugepages-2Mi", "4Mi")}}, want: requirements{Requests: list("hugepages-2Mi", "4Mi"), Limits: list("hugepages-2Mi", "4Mi")}},
		"Own":       {reason: "resource names of Kubernetes are not extended resources", layers: []*requirements{{Limits: list("ephemeral-storage", "1Gi", "requests.kubernetes.io/x", "1")}}, want: requirements{Limits: list("ephemeral-storage", "1Gi", "requests.kubernetes.io/x", "1")}},
		"Claims":    {reason: "claims are replaced as a list", layers: []*requirements{{Claims: []corev1.ResourceClaim{{Name: "a"}}}, {Claims: []corev1.ResourceClaim{{Name: "b"}}}}, want: requirements{Claims: []corev1.ResourceClaim{{Name: "a"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, container.Resources(tc.layers...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if diff := cmp.Diff(list("cpu", "4", "example.com/gpu", "1"), base.Requests); diff != "" {
		t.Errorf("the arguments were changed (-want +got):\n%s", diff)
	}
}
