package settings_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/settings"
)

var key = client.ObjectKey{Namespace: "operators", Name: "settings"}

// announced records the reasons of events.
type announced struct{ reasons []string }

func (a *announced) Eventf(_, _ runtime.Object, _, reason, _, _ string, _ ...any) { //nolint:revive // the interface
	a.reasons = append(a.reasons, reason)
}

func load(t *testing.T, events *announced, objects ...client.Object) (*settings.Live[config], error) {
	t.Helper()
	return settings.Load(t.Context(), fake.NewClientBuilder().WithObjects(objects...).Build(),
		settings.Source[config]{ConfigMap: key, Resolve: resolve, Recorder: events})
}

func TestLoadIsStrict(t *testing.T) {
	t.Parallel()
	if _, err := load(t, nil, stored("1", "port: [")); err == nil || !strings.Contains(err.Error(), "operators/settings: config.yaml") {
		t.Errorf("got %v", err)
	}
	if _, err := load(t, nil, stored("1", "port: many")); err == nil {
		t.Error("want an error for a wrong type")
	}
	live, err := load(t, nil)
	if err != nil || live.Get().Port != 8080 {
		t.Errorf("without a ConfigMap: %v", err)
	}
	if _, err := settings.Load(t.Context(), fake.NewClientBuilder().Build(), settings.Source[config]{ConfigMap: key}); err == nil {
		t.Error("want an error without Resolve")
	}
}

// triggered returns the sorted owners in the queue and removes them.
func triggered(q workqueue.TypedRateLimitingInterface[ctrl.Request]) (names []string) {
	for q.Len() > 0 {
		request, _ := q.Get()
		q.Done(request)
		names = append(names, request.Name)
	}
	slices.Sort(names)
	return names
}

func invalid(t *testing.T, live *settings.Live[config]) float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(live)
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("%v %v", families, err)
	}
	return families[0].GetMetric()[0].GetGauge().GetValue()
}

func TestChangesTriggerReaders(t *testing.T) {
	t.Parallel()
	events := &announced{}
	live, err := load(t, events, stored("1", ""))
	if err != nil {
		t.Fatal(err)
	}
	// The fake client sets the version that it stores.
	readers := live.Readers()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())
	defer queue.ShutDown()
	if err := readers.Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	pass := func() {
		settings.Read(readers, ctrl.Request{NamespacedName: client.ObjectKey{Name: "port"}}, func(c config) int { return c.Port })
		settings.Read(readers, ctrl.Request{NamespacedName: client.ObjectKey{Name: "image"}}, func(c config) string { return c.Image })
		settings.Read(readers, ctrl.Request{NamespacedName: client.ObjectKey{Name: "all"}}, func(c config) config { return c })
	}
	pass()
	pass()
	for _, step := range []struct {
		what   string
		do     func()
		want   []string
		broken bool
	}{
		{"another port", func() { live.OnUpdate(nil, stored("11", "port: 1")) }, []string{"all", "port"}, false},
		{"no pass since the change", func() { live.OnUpdate(nil, stored("12", "port: 2")) }, nil, false},
		{"a pass, and a resync", func() { pass(); live.OnUpdate(nil, stored("12", "port: 2")) }, nil, false},
		{"another text with the same values", func() { live.OnUpdate(nil, stored("13", "port: 2 # two")) }, nil, false},
		{"broken", func() { live.OnUpdate(nil, stored("14", "image: [")) }, nil, true},
		{"still broken", func() { live.OnUpdate(nil, stored("15", "- image")) }, nil, true},
		{"fixed and changed", func() { live.OnUpdate(nil, stored("16", "port: 2\nimage: other")) }, []string{"all", "image"}, false},
		{"of another ConfigMap", func() { pass(); o := stored("17", "port: 9"); o.Name = "other"; live.OnAdd(o, false) }, nil, false},
		{"deleted", func() { live.OnDelete(cache.DeletedFinalStateUnknown{Obj: stored("16", "")}) }, []string{"all", "image", "port"}, false},
		{"created again", func() { pass(); live.OnAdd(stored("18", "port: 3"), false) }, []string{"all", "port"}, false},
		{"another kind", func() { pass(); live.OnAdd(&corev1.Secret{}, false) }, nil, false},
	} {
		step.do()
		if got := triggered(queue); !slices.Equal(got, step.want) {
			t.Errorf("%s: triggered %v, want %v", step.what, got, step.want)
		}
		if (live.Err() != nil) != step.broken || (invalid(t, live) == 1) != step.broken {
			t.Errorf("%s: %v, %v", step.what, live.Err(), invalid(t, live))
		}
		if step.broken && live.Get().Port != 2 {
			t.Errorf("%s: the last valid settings are lost: %+v", step.what, live.Get())
		}
	}
	if want := []string{"InvalidSettings", "InvalidSettings", "SettingsValid"}; !slices.Equal(events.reasons, want) {
		t.Errorf("announced %v, want %v", events.reasons, want)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.yaml")
	content := func(text []byte) (config, error) {
		return resolve(&corev1.ConfigMap{Data: map[string]string{"config.yaml": string(text)}})
	}
	for text, want := range map[string]string{"port: 1": `"port": 1`, "port: x": "error: settings: " + file + ": json:"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := settings.Check(file, content, &out); err != nil {
			out.WriteString("error: " + err.Error())
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: got %s, want %s", text, out.String(), want)
		}
	}
	if err := settings.Check(file+"x", content, &bytes.Buffer{}); err == nil {
		t.Error("want an error for a missing file")
	}
}

// TestPanicIsAnError checks that a panic does not stop the informer, and that the last valid settings are kept.
func TestPanicIsAnError(t *testing.T) {
	t.Parallel()
	live, err := settings.Load(t.Context(), fake.NewClientBuilder().Build(), settings.Source[config]{
		ConfigMap: key, Resolve: func(live *corev1.ConfigMap) (config, error) {
			if live != nil {
				panic("a program error")
			}
			return config{Port: 1}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	live.OnAdd(stored("1", "port: 2"), false)
	if err := live.Err(); err == nil || !strings.Contains(err.Error(), "panic in Resolve: a program error") || live.Get().Port != 1 {
		t.Errorf("got %v and port %d, want the panic and the previous port", err, live.Get().Port)
	}
}
