package operator_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/operator"
)

// output records the log of a running operator.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// last returns message and error of the last line, which must be JSON.
func (o *output) last(t *testing.T) (message, problem string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(o.String()), "\n")
	var entry struct{ Level, Msg, Error string }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &entry); err != nil {
		t.Fatalf("the last line is not JSON: %v\n%s", err, lines[len(lines)-1])
	}
	return entry.Level + ": " + entry.Msg, entry.Error
}

func requireLast(t *testing.T, logs *output, parts ...string) {
	t.Helper()
	message, problem := logs.last(t)
	if message != "error: the operator ends" {
		t.Errorf("the last line is %q", message)
	}
	for _, part := range parts {
		if !strings.Contains(problem, part) {
			t.Errorf("the last line says %q, want %q in it", problem, part)
		}
	}
}

// TestUnsyncedKind checks that the last log line names the kind that cannot be listed and the missing permission.
func TestUnsyncedKind(t *testing.T) {
	env.Require(t)
	namespace := env.Namespace(t)
	create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "operator"}}, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"test.reconcilekit.dev", ""}, Resources: []string{"widgets", "widgets/status", "configmaps"}, Verbs: []string{"*"},
		}},
	}, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: namespace},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "operator"}},
	})
	config, err := env.ServiceAccountConfig(t.Context(), namespace, "operator")
	if err != nil {
		t.Fatal(err)
	}
	o, logs := widgets("one"), &output{}
	o.Config = config
	skip := o.Manager
	o.Manager = func(m *manager.Options) {
		skip(m)
		m.Controller.CacheSyncTimeout = 3 * time.Second
	}
	if err := o.Run(t.Context(), []string{"-health-probe-bind-address=0"}, io.Discard, logs); err == nil {
		t.Fatal("the operator ends without an error")
	}
	requireLast(t, logs, "the controllers cannot start: the caches of /v1/Secret are not synced", "secrets is forbidden", "cannot list resource")
	if _, problem := logs.last(t); strings.Contains(problem, "ConfigMap") {
		t.Errorf("the last line blames a kind that is synced: %s", problem)
	}
}

// TestLostLease checks that the last log line contains the reason for the loss of the lease.
func TestLostLease(t *testing.T) {
	env.Require(t)
	namespace := env.Namespace(t)
	var away atomic.Bool
	config := rest.CopyConfig(env.Config())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if away.Load() && strings.Contains(r.URL.Path, "/leases/") {
				return nil, errors.New("connection refused")
			}
			return next.RoundTrip(r)
		})
	})
	o, logs := widgets("one"), &output{}
	o.Config, o.Version = config, "v1.2.3"
	done := make(chan error, 1)
	go func() {
		done <- o.Run(t.Context(), []string{
			"-health-probe-bind-address=0", "-leader-elect", "-leader-election-namespace=" + namespace, "-namespaces=" + namespace,
			"-leader-election-lease-duration=3s", "-leader-election-renew-deadline=2s", "-leader-election-retry-period=200ms",
		}, io.Discard, logs)
	}()
	site := newWidget(namespace, "site")
	create(t, site)
	eventually(t, "the child", func() bool { return made(t, site) != nil })
	away.Store(true)
	if err := <-done; err == nil {
		t.Fatal("the operator ends without an error")
	}
	requireLast(t, logs, "leader election lost", "the lease was not renewed within 2s", "connection refused")
	if text := logs.String(); !strings.Contains(text, `"the operator starts","version":"v1.2.3"`) {
		t.Errorf("the log has no version:\n%s", text)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestAwayAtStart checks the error of a start while the API server is unavailable.
func TestAwayAtStart(t *testing.T) {
	t.Parallel()
	o, logs := widgets("one"), &output{}
	o.Config = &rest.Config{Host: "http://127.0.0.1:1"}
	err := o.Run(context.Background(), []string{"-health-probe-bind-address=0", "-leader-elect", "-leader-election-namespace=shop"}, io.Discard, logs)
	if err == nil || strings.Contains(err.Error(), "shard") {
		t.Errorf("got %v", err)
	}
	requireLast(t, logs, "the API server http://127.0.0.1:1 does not answer", "connection refused")
}

// TestCancelledWrites checks that a write that is canceled by the end of the process is not logged as an error.
func TestCancelledWrites(t *testing.T) {
	env.Require(t)
	namespace := env.Namespace(t)
	waits := make(chan struct{}, 10)
	config := rest.CopyConfig(env.Config())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/configmaps") {
				waits <- struct{}{}
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return next.RoundTrip(r)
		})
	})
	o, logs := widgets("one"), &output{}
	o.Config = config
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- o.Run(ctx, []string{"-health-probe-bind-address=0", "-namespaces=" + namespace}, io.Discard, logs)
	}()
	create(t, newWidget(namespace, "site"))
	<-waits
	cancel()
	if err := <-done; err != nil {
		t.Errorf("the operator ends with %v", err)
	}
	if text := logs.String(); strings.Contains(text, `"level":"error"`) || !strings.Contains(text, "context canceled") {
		t.Errorf("want the cancelled write, and not as an error, in:\n%s", text)
	}
}

// TestChangedLogLevel checks that accounts with the permission can read and set the log level over the metrics server.
func TestChangedLogLevel(t *testing.T) {
	env.Require(t)
	namespace, metrics := env.Namespace(t), free(t)
	start(t, widgets("one"), "-namespaces="+namespace, "-health-probe-bind-address=0", "-metrics-bind-address="+metrics, "-metrics-secure")
	ask := func(token, method string) (status int, body string) {
		request, err := http.NewRequestWithContext(t.Context(), method, "https://"+metrics+operator.LogLevelPath, strings.NewReader("error"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // made at the start
		answer, err := insecure.Do(request)
		if err != nil {
			return 0, err.Error()
		}
		defer answer.Body.Close()
		raw, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(raw)
	}
	token := func(name string, verbs ...string) string {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		create(t, account, &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: namespace + name},
			Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{operator.LogLevelPath}, Verbs: verbs}},
		}, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: namespace + name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: namespace + name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
		})
		config, err := env.ServiceAccountConfig(t.Context(), namespace, name)
		if err != nil {
			t.Fatal(err)
		}
		return config.BearerToken
	}
	reads, writes := token("reads", "get"), token("writes", "get", "update")
	eventually(t, "the level", func() bool {
		status, body := ask(reads, http.MethodGet)
		return status == http.StatusOK && body == "info\n"
	})
	if status, body := ask(reads, http.MethodPut); status != http.StatusForbidden || !strings.Contains(body, `update the non-resource URL "/debug/log-level"`) {
		t.Errorf("an account that may only read: %d %s", status, body)
	}
	eventually(t, "the change", func() bool {
		status, body := ask(writes, http.MethodPut)
		return status == http.StatusOK && body == "error\n"
	})
	if status, body := ask(reads, http.MethodGet); status != http.StatusOK || body != "error\n" {
		t.Errorf("after the change: %d %s", status, body)
	}
}
