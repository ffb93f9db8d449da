package apiserver_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/apiserver"
)

const last = `{apiVersion: v1, kind: ConfigMap, metadata: {name: last, namespace: default, labels: {app: web, end: "true"}}}`

// eventsUntil returns the events of a watch until the one of an object named last, as "type name", in order.
func eventsUntil(t *testing.T, w watch.Interface, server *apiserver.Server) (out []string) {
	t.Helper()
	for _, namespace := range []string{"default", "other"} {
		if err := server.Client.Create(t.Context(), parse(t, strings.Replace(last, "namespace: default", "namespace: "+namespace, 1))); err != nil {
			t.Fatal(err)
		}
	}
	for {
		select {
		case e := <-w.ResultChan():
			obj, ok := e.Object.(client.Object)
			if !ok {
				t.Fatalf("an event about %T", e.Object)
			}
			if obj.GetName() == "last" {
				w.Stop()
				return out
			}
			out = append(out, fmt.Sprintf("%s %s", strings.ToLower(string(e.Type)), obj.GetName()))
		case <-time.After(time.Minute):
			t.Fatalf("the watch sent no more events after %v", out)
		}
	}
}

func label(text string) client.Patch { return merge(`{"metadata":{"labels":{"app":` + text + `}}}`) }

// TestWatch checks that a watch sends one event for each stored change of a selected object. An object that starts or stops matching
// the selector causes an added or deleted event.
func TestWatch(t *testing.T) {
	t.Parallel()
	web := client.MatchingLabels{"app": "web"}
	both := func(first, second write) write {
		return func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			if err := first(ctx, c, u); err != nil {
				return err
			}
			return second(ctx, c, u)
		}
	}
	patch := func(p client.Patch, opts ...client.PatchOption) write {
		return func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Patch(ctx, u.DeepCopy(), p, opts...)
		}
	}
	remove := func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
		return c.Delete(ctx, u)
	}
	again := func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
		return c.Create(ctx, parse(t, settings))
	}
	removeFinalizer := merge(`{"metadata":{"finalizers":null}}`)
	for name, c := range map[string]struct {
		on   string
		opts []client.ListOption
		do   write
		want []string
	}{
		"nothing new":                       {settings, nil, patch(merge(`{}`)), nil},
		"a change":                          {settings, nil, patch(label(`"web"`)), []string{"modified a"}},
		"two changes":                       {settings, nil, both(patch(label(`"web"`)), patch(label(`"shop"`))), []string{"modified a", "modified a"}},
		"a deletion":                        {settings, nil, remove, []string{"deleted a"}},
		"a recreated object":                {settings, nil, both(remove, again), []string{"deleted a", "added a"}},
		"another namespace":                 {settings, []client.ListOption{client.InNamespace("other")}, remove, nil},
		"another name":                      {settings, []client.ListOption{client.MatchingFieldsSelector{Selector: fields.ParseSelectorOrDie("metadata.name!=a")}}, remove, nil},
		"its name":                          {settings, []client.ListOption{client.MatchingFieldsSelector{Selector: fields.ParseSelectorOrDie("metadata.name!=b,metadata.namespace=default")}}, remove, []string{"deleted a"}},
		"becomes selected":                  {settings, []client.ListOption{web}, both(patch(label(`"web"`)), patch(merge(`{"data":{"x":"2"}}`))), []string{"added a", "modified a"}},
		"is no longer selected":             {settings, []client.ListOption{web}, both(patch(label(`"web"`)), both(patch(label(`null`)), remove)), []string{"added a", "deleted a"}},
		"never selected":                    {settings, []client.ListOption{web}, both(patch(label(`"shop"`)), remove), nil},
		"a dry-run change":                  {settings, nil, patch(label(`"web"`), client.DryRunAll), nil},
		"a dry-run change, then a real one": {settings, nil, both(patch(label(`"web"`), client.DryRunAll), patch(label(`"web"`))), []string{"modified a"}},
		"a dry-run deletion": {settings, nil, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Delete(ctx, u, client.DryRunAll)
		}, nil},
		"a dry-run create": {settings, nil, func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			return c.Create(ctx, parse(t, leaving), client.DryRunAll)
		}, nil},
		"a deletion with a finalizer":          {leaving, nil, both(remove, patch(removeFinalizer)), []string{"modified going", "deleted going"}},
		"finalizer removed in a dry run":       {leaving, nil, both(remove, patch(removeFinalizer, client.DryRunAll)), []string{"modified going"}},
		"finalizer removed in a dry run first": {leaving, nil, both(remove, both(patch(removeFinalizer, client.DryRunAll), patch(removeFinalizer))), []string{"modified going", "deleted going"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serverWith(t, c.on)
			u := read(t, server.Client, parse(t, c.on))
			w, err := server.Client.Watch(t.Context(), &corev1.ConfigMapList{}, c.opts...)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.do(t.Context(), server.Client, u); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, eventsUntil(t, w, server)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWatchForms checks that each watch sends objects in the requested representation.
func TestWatchForms(t *testing.T) {
	t.Parallel()
	server := serverWith(t)
	partial, loose := &metav1.PartialObjectMetadataList{}, &unstructured.UnstructuredList{}
	for _, list := range []client.ObjectList{partial, loose} {
		list.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	}
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, partial, loose} {
		w, err := server.Client.Watch(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		name := strings.ToLower(strings.NewReplacer("*", "", ".", "-").Replace(fmt.Sprintf("%T", list)))
		u := parse(t, settings)
		u.SetName(name)
		if err := server.Client.Create(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		e := <-w.ResultChan()
		want := strings.TrimSuffix(fmt.Sprintf("%T", list), "List")
		if got := fmt.Sprintf("%T", e.Object); got != want || e.Object.(client.Object).GetName() != name {
			t.Errorf("an event about %s %s, want a %s %s", got, e.Object.(client.Object).GetName(), want, name)
		}
		if kind := e.Object.GetObjectKind().GroupVersionKind().Kind; kind != "ConfigMap" {
			t.Errorf("%s is of the kind %q", want, kind)
		}
	}
	if _, err := server.Client.Watch(t.Context(), &unstructured.UnstructuredList{}); err == nil {
		t.Error("a list without a kind is watched")
	}
}

// TestAtOnce checks concurrent requests of many clients, including watches and deletes of collections.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	server := serverWith(t)
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			u := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"n": "1"}}}
			u.SetAPIVersion("example.com/v1")
			u.SetKind(fmt.Sprintf("Kind%d", n)) // a new kind for the server
			u.SetNamespace("default")
			u.SetName("a")
			list := &unstructured.UnstructuredList{}
			list.SetAPIVersion("example.com/v1")
			list.SetKind(u.GetKind() + "List")
			w, err := server.Client.Watch(t.Context(), list)
			if err != nil {
				t.Error(err)
				return
			}
			defer w.Stop()
			if err := server.Client.Create(t.Context(), u); err != nil {
				t.Error(err)
			}
			if err := server.Client.DeleteAllOf(t.Context(), u, client.InNamespace("default")); err != nil {
				t.Error(err)
			}
			for _, want := range []watch.EventType{watch.Added, watch.Deleted} {
				if e := <-w.ResultChan(); e.Type != want {
					t.Errorf("%s: %s, want %s", u.GetKind(), e.Type, want)
				}
			}
		})
	}
	wg.Wait()
	if n := len(server.Used()); n != 8 {
		t.Errorf("%d kinds had objects, want 8", n)
	}
}
