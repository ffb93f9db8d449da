package etcd_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/etcd"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/standin/store"
)

// targetOf returns the address of the store and a prefix to watch.
func targetOf(t *testing.T, s *store.Store, root string) etcd.Target {
	t.Helper()
	target, err := etcd.NewTarget(&corev1.Secret{Data: map[string][]byte{
		etcd.Key: []byte(`{"endpoints":"` + s.URL + `","root_prefix":"` + root + `"}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// heard collects the received events.
type heard struct {
	mu    sync.Mutex
	all   []etcd.Event
	opens int // how often the stream was opened
}

func (h *heard) open() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opens++
}

func (h *heard) add(e etcd.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, e)
}

// take waits for exactly these events, in any order, and clears them.
func (h *heard) take(t *testing.T, want ...etcd.Event) {
	t.Helper()
	end := time.Now().Add(45 * time.Second)
	for {
		h.mu.Lock()
		got := slices.Clone(h.all)
		missing := slices.ContainsFunc(want, func(e etcd.Event) bool { return !slices.Contains(got, e) })
		if !missing {
			h.all = nil
		}
		h.mu.Unlock()
		if !missing && len(got) == len(want) {
			return
		}
		if !missing || time.Now().After(end) {
			t.Fatalf("events %v, want %v", got, want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestWatch watches a real etcd: existing keys, changes, an outage, and another etcd.
func TestWatch(t *testing.T) {
	t.Parallel()
	s := store.New(t)
	s.Put("b11/mm/svc/vmodels/pre1", `{"o":"ksp"}`)
	s.Put("b11/mm/svc/vmodels/pre2", `{}`)
	s.Put("b11/mm/svc/registry/pre3__ksp-0123456789", `{}`)
	s.Put("b11/mm_ns/other/mm/svc/vmodels/pre4", `{"o":"isvc"}`)
	s.Put("b11/mm/another/vmodels/no", `{}`)

	events, h := etcd.NewEvents("b11", true), &heard{}
	ctx, stop := context.WithCancel(t.Context())
	closed, ended := make(chan error, 1), make(chan error, 1)
	go func() { closed <- events.Start(ctx) }()
	go func() { ended <- events.Watch(ctx, h.open, h.add) }()
	events.Follow("b11", "svc", targetOf(t, s, "b11"))
	h.take(t, etcd.Event{Namespace: "b11", Name: "pre1", Source: "ksp"}, etcd.Event{Namespace: "b11", Name: "pre2", Source: "ksp"},
		etcd.Event{Namespace: "b11", Name: "pre3", Source: "ksp"}, etcd.Event{Namespace: "other", Name: "pre4", Source: "isvc"})

	s.Delete("b11/mm/svc/vmodels/pre1")
	h.take(t, etcd.Event{Namespace: "b11", Name: "pre1", Source: "ksp"})
	s.Put("b11/mm/svc/vmodels/bad", "notjson")
	s.Put("b11/mm/svc/registry/short__ksp-012345", "{}")
	s.Put("b11/mm/svc/registry/na__me__isvc-0123456789", "{}")
	h.take(t, etcd.Event{Namespace: "b11", Name: "na__me", Source: "isvc"})
	s.Delete("b11/mm/svc/registry/na__me__isvc-0123456789")

	s.Stop() // an outage of etcd loses no event
	time.Sleep(time.Second)
	s.Start()
	s.Put("b11/mm/svc/vmodels/after", `{"o":"ksp"}`)
	h.take(t, etcd.Event{Namespace: "b11", Name: "after", Source: "ksp"})

	s.Put("b12/mm/svc/vmodels/there", `{"o":"ksp"}`)
	events.Follow("b11", "svc", targetOf(t, s, "b12"))
	h.take(t, etcd.Event{Namespace: "b11", Name: "there", Source: "ksp"})
	events.Forget("b11")
	time.Sleep(100 * time.Millisecond)
	s.Put("b12/mm/svc/vmodels/unheard", `{"o":"ksp"}`)
	time.Sleep(100 * time.Millisecond)
	h.take(t)
	events.Follow("b11", "svc", targetOf(t, s, "b12"))
	h.take(t, etcd.Event{Namespace: "b11", Name: "there", Source: "ksp"}, etcd.Event{Namespace: "b11", Name: "unheard", Source: "ksp"})

	stop()
	for _, end := range []<-chan error{closed, ended} {
		select {
		case err := <-end:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("the stream continues")
		}
	}
}

// TestWatchWithoutAStream checks that an etcd that starts after the operator is watched from then on.
func TestWatchWithoutAStream(t *testing.T) {
	t.Parallel()
	s := store.New(t)
	s.Put("r/mm/svc/vmodels/m", `{"o":"ksp"}`)
	s.Stop()
	events, h := etcd.NewEvents("n", false), &heard{}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- events.Watch(ctx, h.open, h.add) }()
	events.Follow("n", "svc", targetOf(t, s, "r"))
	time.Sleep(time.Second)
	s.Start()
	h.take(t, etcd.Event{Namespace: "n", Name: "m", Source: "ksp"})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if h.opens != 1 {
		t.Errorf("the stream was opened %d times, want once", h.opens)
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		data map[string]string
		want string
	}{
		"nothing": {nil, "failed to parse etcd config json: Secret n/s, key etcd_connection: want a JSON object of texts"},
		"no endpoints": {
			map[string]string{etcd.Key: `{"endpoints":" , "}`},
			"Secret n/s, key etcd_connection: endpoints is empty: want URLs such as http://etcd:2379, with commas between them",
		},
		"a key without a certificate": {
			map[string]string{etcd.Key: `{"endpoints":"https://e:1","client_key":"k"}`},
			"Secret n/s, key etcd_connection: client_key and client_certificate: want both or none",
		},
		"a missing file": {
			map[string]string{etcd.Key: `{"endpoints":"https://e:1","certificate_file":"ca"}`},
			"Secret n/s: key ca, which etcd_connection names, is missing",
		},
		"a file that is not PEM": {
			map[string]string{etcd.Key: `{"endpoints":"http://e:1","certificate_file":"ca"}`, "ca": "secret"},
			"Secret n/s, key etcd_connection: certificate: want certificates in PEM",
		},
		"several endpoints":       {map[string]string{etcd.Key: `{"endpoints":"http://a:1, http://b:2"}`}, ""},
		"TLS with the host's CAs": {map[string]string{etcd.Key: `{"endpoints":"https://a:1","override_authority":"etcd"}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := &corev1.Secret{Data: map[string][]byte{}}
			secret.Namespace, secret.Name = "n", "s"
			for key, value := range tc.data {
				secret.Data[key] = []byte(value)
			}
			got := ""
			if _, err := etcd.NewTarget(secret); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("error %q, want %q", got, tc.want)
			}
		})
	}
}
