package main

import (
	"os"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/install"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
)

func pageOf(t *testing.T) dataflow.Page {
	t.Helper()
	page, err := maas().Page()
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// TestGenerated compares the page, the permissions and the installation with the declarations of the controllers.
func TestGenerated(t *testing.T) {
	t.Parallel()
	files, err := install.Files(pageOf(t), install.Config{CRDs: os.DirFS("config/crd")})
	if err != nil {
		t.Fatal(err)
	}
	lint.Generated(t, files)
}

// TestWatches checks that the table of watches has every kind that the product's controllers watch.
func TestWatches(t *testing.T) {
	t.Parallel()
	lint.Watched(t, pageOf(t), "testdata/watches.txt", nil)
}
