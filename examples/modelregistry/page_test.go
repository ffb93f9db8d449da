package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/install"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func describedPage(t *testing.T) dataflow.Page {
	t.Helper()
	page, err := registries().Page()
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// TestGenerated compares the page, the permissions and the installation with the declarations of the controllers.
func TestGenerated(t *testing.T) {
	t.Parallel()
	files, err := install.Files(describedPage(t), install.Config{
		Namespace: "opendatahub", Image: "modelregistry:latest", CRDs: os.DirFS("config/crd"),
	})
	if err != nil {
		t.Fatal(err)
	}
	lint.Generated(t, files)
}

// TestWatches checks that the table of watches has every kind that the product's controllers watch.
func TestWatches(t *testing.T) {
	t.Parallel()
	lint.Watched(t, describedPage(t), "testdata/watches.txt", nil)
}

// TestWebhooks checks that the page lists both webhooks as in config/webhook.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("config/webhook/webhooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	if err := errors.Join(decoder.Decode(mutating), decoder.Decode(validating)); err != nil {
		t.Fatal(err)
	}
	row := func(name, kind string, service *admissionregistrationv1.ServiceReference, policy *admissionregistrationv1.FailurePolicyType) string {
		return fmt.Sprintf("| %s | %s | %s | %s | %s/%s |", name, kind, *service.Path, *policy, service.Namespace, service.Name)
	}
	m, v := mutating.Webhooks[0], validating.Webhooks[0]
	for _, want := range []string{
		row(m.Name, "mutating", m.ClientConfig.Service, m.FailurePolicy),
		row(v.Name, "validating", v.ClientConfig.Service, v.FailurePolicy),
	} {
		if page := describedPage(t).Markdown(); !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}
