package controller

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// place is a fake manager with a REST mapper and a fake discovery endpoint.
type place struct {
	manager.Manager
	mapper *meta.DefaultRESTMapper
	config *rest.Config
	log    strings.Builder
}

func (p *place) GetRESTMapper() meta.RESTMapper { return p.mapper }
func (p *place) GetConfig() *rest.Config        { return p.config }
func (p *place) GetHTTPClient() *http.Client    { return http.DefaultClient }
func (p *place) GetLogger() logr.Logger {
	return funcr.New(func(_, args string) { p.log.WriteString(args) }, funcr.Options{})
}

// serving returns a manager whose API server answers discovery requests for the owners' group version.
func serving(t *testing.T, status int, resources string) *place {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"` + widget.GroupVersion.String() + `","resources":[` + resources + `]}`))
	}))
	t.Cleanup(server.Close)
	p := &place{mapper: meta.NewDefaultRESTMapper(nil), config: &rest.Config{Host: server.URL}}
	p.mapper.Add(widget.GroupVersion.WithKind("Widget"), meta.RESTScopeNamespace)
	return p
}

func catalogue(t *testing.T, more ...declaration.Declaration) *declaration.Catalogue {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, widget.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	kinds, err := declaration.Resolve("shop", scheme, append([]declaration.Declaration{
		{Purpose: declaration.PurposeFor, Object: &widget.Widget{}},
	}, more...))
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

// TestCheckStatus checks that a kind without the status subresource is rejected. A failed discovery is not an error.
func TestCheckStatus(t *testing.T) {
	t.Parallel()
	const widgets, status = `{"name":"widgets","kind":"Widget"}`, `{"name":"widgets/status","kind":"Widget"}`
	for title, tc := range map[string]struct {
		code          int
		resources     string
		refused, told bool
	}{
		"served":         {code: http.StatusOK, resources: widgets + "," + status},
		"without status": {code: http.StatusOK, resources: widgets, refused: true},
		"unknown":        {code: http.StatusInternalServerError, told: true},
	} {
		p := serving(t, tc.code, tc.resources)
		err := checkStatus(p, catalogue(t))
		if got := err != nil && strings.Contains(err.Error(), "is served without the status subresource"); got != tc.refused {
			t.Errorf("%s: got %v, refused %t", title, err, tc.refused)
		}
		if got := strings.Contains(p.log.String(), "cannot check"); got != tc.told {
			t.Errorf("%s: the log has %q", title, p.log.String())
		}
	}
}

// TestLocate checks the REST mapping of a kind, and the error for a missing one.
func TestLocate(t *testing.T) {
	t.Parallel()
	node := declaration.Declaration{Purpose: declaration.PurposeReads, Object: &corev1.Node{}}
	optional := declaration.Declaration{Purpose: declaration.PurposeReads, Object: &corev1.Pod{}, Optional: true}
	p := serving(t, http.StatusOK, "")
	if err := locateKinds(p, catalogue(t, node)); err == nil || !strings.Contains(err.Error(), "/v1/Node is not installed: install its CRD") {
		t.Errorf("a kind that is missing: got %v", err)
	}
	p.mapper.AddSpecific(corev1.SchemeGroupVersion.WithKind("Node"), schema.GroupVersionResource{Version: "v1", Resource: "nodery"},
		schema.GroupVersionResource{Version: "v1", Resource: "node"}, meta.RESTScopeRoot)
	kinds := catalogue(t, node, optional)
	if err := locateKinds(p, kinds); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ cluster, absent bool }{{}, {cluster: true}, {absent: true}} {
		if k := kinds.Kinds[i]; k.Cluster.Load() != want.cluster || k.Absent.Load() != want.absent {
			t.Errorf("%s: without namespaces %t, absent %t; want %+v", k.Kind, k.Cluster.Load(), k.Absent.Load(), want)
		}
	}
	if log := p.log.String(); !strings.Contains(log, `"derived"="nodes"`) || !strings.Contains(log, `"resource"="nodery"`) || strings.Contains(log, "widget") {
		t.Errorf("the log names no resource that the rights do not have, or another one: %s", log)
	}
}
