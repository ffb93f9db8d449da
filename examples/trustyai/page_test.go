package main

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/types"
)

// account is what the Deployment runs as.
var account = types.NamespacedName{Namespace: "opendatahub", Name: "trustyai-service-operator-controller-manager"}

// TestGenerated holds the page and the rights to what the controllers declare.
func TestGenerated(t *testing.T) {
	t.Parallel()
	page, err := trustyai().Page()
	if err != nil {
		t.Fatal(err)
	}
	files, err := page.Files("trustyai-service-operator-manager-role", account)
	if err != nil {
		t.Fatal(err)
	}
	reconciletest.Generated(t, files)
}
