package v1alpha1

import (
	"testing"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/grafana/internal/versions/versionstest"
)

func TestGrafanaKeepsFields(t *testing.T) {
	versionstest.RoundTrip(t, &v1beta1.Grafana{}, &Grafana{})
}
