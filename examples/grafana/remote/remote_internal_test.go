package remote

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
)

// TestCall checks the category of the error for each response status.
func TestCall(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]health.Category{
		http.StatusOK:                  "",
		http.StatusBadRequest:          health.InvalidSpec,
		http.StatusUnauthorized:        health.Auth,
		http.StatusForbidden:           health.Auth,
		http.StatusNotFound:            health.InvalidSpec,
		http.StatusConflict:            health.Conflict,
		http.StatusPreconditionFailed:  health.Conflict,
		http.StatusInternalServerError: health.Infrastructure,
		http.StatusBadGateway:          health.Infrastructure,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "admin" || password != "secret" {
				t.Errorf("user %q, password %q", user, password)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"message":"because"}`))
		}))
		err := Client{URL: server.URL + "/", User: "admin", Password: "secret", HTTP: server.Client()}.Call(t.Context(), http.MethodGet, "/api", nil, nil)
		server.Close()
		if want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		var response *Error
		if !errors.As(err, &response) || response.HealthCategory() != want.String() || response.Message != "because" || IsNotFound(err) != (status == http.StatusNotFound) {
			t.Errorf("%d: got %v, want the category %s", status, err, want)
		}
	}
}

// TestReport checks the conditions of a synchronized resource.
func TestReport(t *testing.T) {
	t.Parallel()
	a, b := client.ObjectKey{Name: "a"}, client.ObjectKey{Name: "b"}
	for name, c := range map[string]struct {
		instances Instances
		blocked   error
		want      map[string]string
	}{
		"no instance": {
			Instances{Waiting: []client.ObjectKey{a}},
			nil,
			map[string]string{v1beta1.NoMatchingInstance: "None of the available Grafana instances matched the selector, skipping reconciliation"},
		},
		"applied": {
			Instances{Complete: []client.ObjectKey{a, b}},
			nil,
			map[string]string{v1beta1.FolderSynchronized: "Folder was successfully applied to 2 instances"},
		},
		"one failed": {
			Instances{Complete: []client.ObjectKey{a, b}, failed: []error{errors.New("a: refused")}},
			nil,
			map[string]string{v1beta1.FolderSynchronized: "Folder failed to be applied for 1 out of 2 instances. Errors:\n- a: refused"},
		},
		"blocked": {
			Instances{Complete: []client.ObjectKey{a}},
			errors.New("no model"),
			map[string]string{v1beta1.FolderSynchronized: "Folder was not applied: no model"},
		},
	} {
		cm := conditions.NewManager(nil, 1, time.Unix(0, 0))
		c.instances.Report(cm, c.blocked, "Folder", v1beta1.FolderSynchronized)
		got := map[string]string{}
		for _, condition := range cm.Conditions() {
			got[condition.Type] = condition.Message
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
