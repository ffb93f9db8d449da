package evalhub

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/external"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
)

const (
	credentials = "/var/run/secrets/kubernetes.io/serviceaccount/" //nolint:gosec // a path
	// extraRoots is the variable with a further file of authorities.
	extraRoots = "TRUSTYAI_EVALHUB_HTTP_EXTRA_CA_BUNDLE"
)

// report is the report about a failed Job that a hub receives.
type report struct {
	url, jobID string
	job        *batchv1.Job
	event      statusEvent
}

type statusEvent struct {
	Provider  string `json:"provider_id"`
	Benchmark string `json:"id"`
	Index     int    `json:"benchmark_index,omitempty"`
	Status    string `json:"status"`
	Error     struct {
		Message string `json:"message"`
		Code    string `json:"message_code"`
	} `json:"error_message"`
}

// reporter sends reports to hubs. It remembers which of them have arrived until their Jobs are deleted. A report that has arrived
// just before the operator stops is sent again.
type reporter struct {
	client   func() *http.Client
	arrived  sync.Map
	recorder events.EventRecorder // nil emits no events
}

var _ external.System[report, bool] = (*reporter)(nil)

func newReporter() *reporter { return &reporter{client: sync.OnceValue(newClient)} }

// reportKind returns the kind of the reports. Each hub is a system of its own.
func reportKind(r *reporter) *external.Kind[report, bool] {
	return external.New("EvaluationFailure", r, external.Options{Timeout: 30 * time.Second, System: func(key string) string {
		return strings.Join(strings.SplitN(key, "/", 3)[:2], "/")
	}})
}

// Observe reports whether the report has arrived.
func (r *reporter) Observe(_ context.Context, key string) (bool, error) {
	if _, ok := r.arrived.Load(key); !ok {
		return false, fmt.Errorf("report %s: %w", key, external.ErrNotFound)
	}
	return true, nil
}

// Ensure sends the report.
func (r *reporter) Ensure(ctx context.Context, key string, what report) (bool, error) {
	body, err := json.Marshal(map[string]any{"benchmark_status_event": what.event})
	if err != nil {
		return false, err
	}
	address := strings.TrimSuffix(what.url, "/") + "/api/v1/evaluations/jobs/" + url.PathEscape(what.jobID) + "/events"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Tenant", what.job.Namespace)
	if token, err := os.ReadFile(credentials + "token"); err == nil {
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	response, err := r.client().Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusNoContent {
		return false, fmt.Errorf(
			"report of Job %s/%s to %s: got status %d, want 200 or 204", what.job.Namespace, what.job.Name, address,
			response.StatusCode,
		)
	}
	r.arrived.Store(key, true)
	reported.WithLabelValues(failureReason(what.event)).Inc()
	if r.recorder != nil {
		r.recorder.Eventf(what.job, nil, corev1.EventTypeWarning, "EvaluationFailed", "Report", "%s", what.event.Error.Message)
	}
	return true, nil
}

// Remove forgets the report. A hub keeps the reports that it has received.
func (r *reporter) Remove(_ context.Context, key string) error {
	r.arrived.Delete(key)
	return nil
}

// UpToDate reports that an arrived report is not sent again.
func (*reporter) UpToDate(_ report, arrived bool) bool { return arrived }

// newClient returns a client that trusts the authorities of the system, of the cluster's services, and of a file that the
// environment names.
func newClient() *http.Client {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	for _, file := range []string{credentials + "service-ca.crt", os.Getenv(extraRoots)} {
		if text, err := os.ReadFile(file); err == nil { //nolint:gosec // the administrator names it
			roots.AppendCertsFromPEM(text)
		}
	}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		IdleConnTimeout: time.Minute,
	}}
}
