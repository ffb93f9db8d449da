package reconciletest_test

import (
	"errors"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

func auditLog(t *testing.T) *environment.AuditLog {
	t.Helper()
	env.Require(t)

	log, err := env.AuditLog()
	if errors.Is(err, environment.ErrNoAuditLog) && os.Getenv(environment.EnvKubeconfig) != "" {
		t.Skip(err)
	}

	if err != nil {
		t.Fatal(err)
	}

	return log
}

// as returns the administrator's configuration under another name.
func as(user string) *rest.Config {
	config := env.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:masters"}}

	return config
}

// TestAuditLogAgreesWithRequests sends one request of each kind and compares
// the records of client and server.
func TestAuditLogAgreesWithRequests(t *testing.T) {
	t.Parallel()

	log := auditLog(t)
	namespace := env.Namespace(t)
	user := environment.User("auditor-of-" + namespace)

	var counted requests.Requests

	c, err := client.New(counted.Observe(as("auditor-of-"+namespace)), client.Options{})
	if err != nil {
		t.Fatal(err)
	}

	ctx := t.Context()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "settings"}}
	key := client.ObjectKeyFromObject(config)
	start := time.Now()
	// Each request, and its response code.
	steps := []struct {
		code int
		send func() error
	}{
		{http.StatusCreated, func() error { return c.Create(ctx, config) }},
		{http.StatusOK, func() error { return c.Get(ctx, key, &corev1.ConfigMap{}) }},
		{http.StatusNotFound, func() error {
			return client.IgnoreNotFound(c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "none"}, &corev1.ConfigMap{}))
		}},
		{http.StatusOK, func() error { return c.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(namespace)) }},
		{http.StatusOK, func() error { return c.Get(ctx, client.ObjectKey{Name: namespace}, &corev1.Namespace{}) }},
		{http.StatusOK, func() error { return c.Update(ctx, config, client.DryRunAll) }},
		{http.StatusOK, func() error {
			return c.Apply(ctx, applycorev1.ConfigMap("settings", namespace).WithData(map[string]string{"a": "b"}),
				client.FieldOwner("kit"), client.ForceOwnership)
		}},
		{http.StatusOK, func() error { return c.Delete(ctx, config, client.DryRunAll) }},
		{http.StatusOK, func() error { return c.Delete(ctx, config) }},
		{http.StatusOK, func() error { return c.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(namespace)) }},
	}

	for i, step := range steps {
		if err := step.send(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}

	// Requests to resources. Another test covers discovery.
	resources := environment.Asked(func(r requests.Request) bool { return r.Path == "" })

	entries, err := log.Entries(user, resources)
	if err != nil {
		t.Fatal(err)
	}

	want := counted.Snapshot().WithoutInformers()
	for i := range want {
		if want[i].Verb == "apply" {
			want[i].Verb = "patch" // the verb in the API server
		}

		if want[i].Verb == "create" {
			want[i].Name = "settings" // the API server reads it from the body
		}
	}

	if diff := cmp.Diff(want, entries.Requests()); diff != "" {
		t.Fatalf("requests (-sent by the client +logged by the server):\n%s", diff)
	}

	for i, entry := range entries {
		if entry.Code != steps[i].code {
			t.Errorf("%s: want the code %d", entry, steps[i].code)
		}

		if entry.Received.Before(start.Truncate(time.Microsecond)) || entry.Completed.Before(entry.Received) ||
			time.Now().Before(entry.Completed) {
			t.Errorf("%s: received %s and completed %s is not while this test sent it", entry, entry.Received, entry.Completed)
		}
	}

	if err := log.Reset(); err != nil {
		t.Fatal(err)
	}

	if entries, err = log.Entries(user); err != nil || len(entries) != 0 {
		t.Errorf("after Reset want no entries, got %v:\n%s", err, entries)
	}
}

// TestAuditLogHasAWatchOnce reads the log during a watch and after its
// end.
func TestAuditLogHasAWatchOnce(t *testing.T) {
	t.Parallel()

	log := auditLog(t)
	namespace := env.Namespace(t)
	user := environment.User("watcher-of-" + namespace)

	c, err := kubernetes.NewForConfig(as("watcher-of-" + namespace))
	if err != nil {
		t.Fatal(err)
	}

	begin := func() func() {
		w, err := c.CoreV1().Secrets(namespace).Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}

		return w.Stop
	}

	first := begin()
	// The API server logs the start after it has sent the header.
	entries := eventually(t, log, func(e environment.AuditEntries) bool { return len(e) == 1 }, user)
	if !entries[0].Informer || entries[0].Verb != "watch" || entries[0].Code != http.StatusOK {
		t.Errorf("the watch is logged as %+v", entries[0])
	}

	first()

	ended := eventually(t, log, func(e environment.AuditEntries) bool {
		return len(e) != 1 || e[0].Completed.After(entries[0].Completed)
	}, user)
	if len(ended) != 1 {
		t.Errorf("one watch is in the log as:\n%s", ended)
	}

	second := begin()
	begun := eventually(t, log, func(e environment.AuditEntries) bool { return len(e) == 2 }, user)

	if err := log.Reset(); err != nil {
		t.Fatal(err)
	}

	second()

	// Another reader waits until the end of the second watch is logged.
	other := auditLog(t)
	eventually(t, other, func(e environment.AuditEntries) bool {
		return len(e) == 2 && e[1].Completed.After(begun[1].Completed)
	}, user)

	if entries, err := log.Entries(user); err != nil || len(entries) != 0 {
		t.Errorf("a reset watch is logged again (%v):\n%s", err, entries)
	}
}

// eventually waits for entries.
func eventually(
	t *testing.T, log *environment.AuditLog, enough func(environment.AuditEntries) bool,
	filters ...func(environment.AuditEntry) bool,
) environment.AuditEntries {
	t.Helper()

	deadline := time.Now().Add(time.Minute)

	for {
		entries, err := log.Entries(filters...)
		if err != nil {
			t.Fatal(err)
		}

		if enough(entries) {
			return entries
		}

		if time.Now().After(deadline) {
			t.Fatalf("the log never had the expected entries, but:\n%s", entries)
		}

		<-time.After(10 * time.Millisecond)
	}
}
