package main

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/types"
)

// account is what the Deployment runs as.
var account = types.NamespacedName{Namespace: "maas-system", Name: "maas-manager"}

func pageOf(t *testing.T) dataflow.Page {
	t.Helper()
	page, err := maas().Page()
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// TestGenerated holds the page and the rights to what the controllers declare.
func TestGenerated(t *testing.T) {
	t.Parallel()
	files, err := pageOf(t).Files("maas-manager", account)
	if err != nil {
		t.Fatal(err)
	}
	reconciletest.Generated(t, files)
}

// TestWatches: every kind that the product's controllers watch is in the watches table.
func TestWatches(t *testing.T) {
	t.Parallel()
	reconciletest.Watched(t, pageOf(t), "testdata/watches.txt", nil)
}
