package aimservice_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// TestNamesAreValidAndDiffer checks that names of different services differ, fit the host names of KServe, and start
// with a letter where KServe requires one.
func TestNamesAreValidAndDiffer(t *testing.T) {
	t.Parallel()
	services := []string{"a.b", "a-b", "1st", "x1st", "9", "svc", strings.Repeat("a", 60) + "-one", strings.Repeat("a", 60) + "-two"}
	for i := range 2000 {
		services = append(services, fmt.Sprintf("%s-%d", strings.Repeat("long-", 9), i))
	}
	for _, namespace := range []string{"default", strings.Repeat("n", 42)} {
		seen := map[string]string{}
		for _, service := range services {
			name, err := aimservice.GenerateInferenceServiceName(service, namespace)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := validation.IsDNS1035Label(name); len(wrong) > 0 {
				t.Errorf("%s: %v", name, wrong)
			}
			if host := name + "-predictor-" + namespace; len(host) > 63 {
				t.Errorf("%s has %d characters", host, len(host))
			}
			if other, taken := seen[name]; taken {
				t.Errorf("%s and %s are both %s", service, other, name)
			}
			seen[name] = service
		}
	}
	if _, err := aimservice.GenerateInferenceServiceName("s", strings.Repeat("n", 43)); err == nil {
		t.Error("want an error for a too long namespace")
	}
}

func BenchmarkGenerateInferenceServiceName(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := aimservice.GenerateInferenceServiceName("qwen-chat", "my-namespace"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGenerateModelName(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := aimservice.GenerateModelName("ghcr.io/silogen/llama-3-8b:v1.2.0"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResolveServiceRoutePath(b *testing.B) {
	service := serviceOf("team-a", "chat", "m")
	service.Labels = map[string]string{"team": "blue"}
	service.Spec.Routing = &aimv1alpha1.AIMRuntimeRoutingConfig{PathTemplate: new("/{.metadata.namespace}/{.metadata.labels['team']}/{.metadata.name}")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := aimservice.ResolveServiceRoutePath(service, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSelectTemplate measures the selection from a thousand candidates, per candidate.
func BenchmarkSelectTemplate(b *testing.B) {
	const number = 1000
	candidates := make([]aimservice.TemplateCandidate, 0, number)
	for i := range number {
		t := readyTemplate("ns", fmt.Sprintf("t-%d", i), "m")
		t.Status.Profile.Metadata.GPU = []string{"MI300X", "MI325X", "MI250X"}[i%3]
		candidates = append(candidates, aimservice.TemplateCandidate{
			Name: t.Name, Namespace: "ns", Scope: aimv1alpha1.AIMResolutionScopeNamespace,
			Spec: t.Spec.AIMServiceTemplateSpecCommon, Status: t.Status,
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		if best, _, _, _ := aimservice.SelectTemplate(candidates, nil, []string{"MI300X", "MI325X"}, false); best == nil {
			b.Fatal("none selected")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/number, "ns/candidate")
}
