package view_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
)

// events records the events of a handler, one line each.
type events []string

func (e *events) note(format string, args ...any) { *e = append(*e, fmt.Sprintf(format, args...)) }

// handler returns a handler that records events with the colors of ConfigMaps.
func (e *events) handler() toolscache.ResourceEventHandler {
	text := func(obj any) string {
		if cm, ok := obj.(*corev1.ConfigMap); ok {
			return cm.Name + " " + cm.Data["color"]
		}
		return obj.(client.Object).GetName()
	}
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			e.note("add %s%s", text(obj), map[bool]string{true: ", initially"}[initial])
		},
		UpdateFunc: func(before, after any) { e.note("update %s, %s", text(before), text(after)) },
		DeleteFunc: func(obj any) { e.note("delete %s", text(obj)) },
	}
}

// take returns the events since the previous call.
func (e *events) take() []string {
	out := slices.Clone(*e)
	*e = nil
	return out
}

// watching returns a view with a handler of ConfigMaps.
func watching(t *testing.T, w *cluster.Cluster) (*view.View, *events) {
	t.Helper()
	v, received := view.New(w, cache.Options{}), &events{}
	handle(t, v, &corev1.ConfigMap{}, received)
	return v, received
}

func handle(t *testing.T, v *view.View, obj client.Object, received *events) (cache.Informer, toolscache.ResourceEventHandlerRegistration) {
	t.Helper()
	informer, err := v.GetInformer(t.Context(), obj)
	if err != nil {
		t.Fatal(err)
	}
	registration, err := informer.AddEventHandler(received.handler())
	if err != nil {
		t.Fatal(err)
	}
	return informer, registration
}

func (e *events) want(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, e.take()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func sync(t *testing.T, v *view.View) {
	t.Helper()
	if err := v.Sync(); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, w *cluster.Cluster, name string) {
	t.Helper()
	if err := w.Client.Delete(t.Context(), configMap(name)); err != nil {
		t.Fatal(err)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	w := newCluster(t, nil, "a/x", "a/y")
	v, received := watching(t, w)
	received.want(t, "add x red, initially", "add y red, initially")

	create(t, w, "a/b")
	paint(t, w, "a/x", "green")
	remove(t, w, "a/y")
	received.want(t) // no event before the cache is updated
	sync(t, v)
	received.want(t, "update x red, x green", "delete y red", "add b red")
	sync(t, v)
	received.want(t)

	paint(t, w, "a/x", "blue")
	paint(t, w, "a/x", "white")
	sync(t, v)
	received.want(t, "update x green, x white") // two changes in one event

	remove(t, w, "a/x")
	create(t, w, "a/x")
	sync(t, v)
	received.want(t, "delete x white", "add x red") // a recreated object

	create(t, w, "a/c")
	remove(t, w, "a/c")
	sync(t, v)
	received.want(t)
}

// TestLag checks that a lagging cache shows each state in order, delayed by the number of reconciliations.
func TestLag(t *testing.T) {
	t.Parallel()
	for lag, want := range map[int][][]string{
		0: {{"update x red, x green"}, {"update x green, x blue"}, nil, nil},
		1: {nil, {"update x red, x green"}, {"update x green, x blue"}, nil},
		2: {nil, nil, {"update x red, x green"}, {"update x green, x blue"}},
	} {
		w := newCluster(t, nil, "a/x")
		v, received := watching(t, w)
		v.Disturb(nil, map[string]int{"ConfigMap": lag, "": 3})
		received.take()
		var got [][]string
		for _, color := range []string{"green", "blue"} {
			paint(t, w, "a/x", color)
			sync(t, v)
			got = append(got, received.take())
		}
		for range 2 {
			v.Advance()
			got = append(got, received.take())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lag %d (-want +got):\n%s", lag, diff)
		}
		if v.Advance() {
			t.Errorf("lag %d: the cache is behind at the end", lag)
		}
	}
}

// Other kinds use the lag of all kinds.
func TestLagKeepsOwnWrites(t *testing.T) {
	t.Parallel()
	w := newCluster(t, nil, "a/x")
	v, received := watching(t, w)
	v.Disturb(nil, map[string]int{"Secret": 0, "": 1})
	received.take()
	paint(t, w, "a/x", "green")
	sync(t, v)
	received.want(t)
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(configMaps)
	if err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "x"}, stored); err != nil {
		t.Fatal(err)
	}
	if v.Shows(configMaps, stored) {
		t.Error("the cache shows newer content")
	}
	if !v.Advance() || !v.Shows(configMaps, stored) {
		t.Error("the cache does not catch up")
	}
	received.want(t, "update x red, x green")
	if v.Shows(corev1.SchemeGroupVersion.WithKind("Secret"), stored) {
		t.Error("the cache contains a kind without a read")
	}
}

// TestEventFaults checks that events are dropped, duplicated and reordered while the cache has the new state.
func TestEventFaults(t *testing.T) {
	t.Parallel()
	w := newCluster(t, nil, "a/x", "a/y")
	v, received := watching(t, w)
	delivered := 0
	v.Delivered = func() { delivered++ }
	v.Disturb(func(all []view.Event) []view.Event {
		slices.Reverse(all)
		return append(all, all[0])
	}, nil)
	received.take()
	paint(t, w, "a/x", "green")
	paint(t, w, "a/y", "green")
	sync(t, v)
	received.want(t, "update y red, y green", "update x red, x green", "update y red, y green")
	if delivered != 3 {
		t.Errorf("%d events are delivered, want 3", delivered)
	}
	v.Disturb(func([]view.Event) []view.Event { return nil }, nil)
	remove(t, w, "a/x")
	sync(t, v)
	received.want(t)
	if diff := cmp.Diff([]string{"a/y"}, listed(t, v)); diff != "" {
		t.Errorf("it shows (-want +got):\n%s", diff)
	}
}

// TestPast checks that a new instance can start with an old cache that is updated later.
func TestPast(t *testing.T) {
	t.Parallel()
	w := newCluster(t, nil, "a/x", "a/y")
	before, err := w.All()
	if err != nil {
		t.Fatal(err)
	}
	paint(t, w, "a/x", "green")
	create(t, w, "a/z")
	v := view.New(w, cache.Options{})
	v.Past = &view.Past{State: before, Passes: 1}
	received := &events{}
	handle(t, v, &corev1.ConfigMap{}, received)
	received.want(t, "add x red, initially", "add y red, initially")
	sync(t, v)
	received.want(t, "update x red, x green", "add z red")
}

// TestOldCacheOfAKind checks that the cache of one kind can be old for several reconciliations.
func TestOldCacheOfAKind(t *testing.T) {
	t.Parallel()
	w := newCluster(t, nil, "a/x")
	before, err := w.All()
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "s"}}
	if err := w.Client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	paint(t, w, "a/x", "green")
	v := view.New(w, cache.Options{})
	v.Past = &view.Past{State: before, Kind: "ConfigMap", Passes: 2}
	received := &events{}
	handle(t, v, &corev1.ConfigMap{}, received)
	handle(t, v, &corev1.Secret{}, received)
	received.want(t, "add x red, initially", "add s, initially")
	paint(t, w, "a/x", "blue")
	sync(t, v)
	received.want(t)
	sync(t, v)
	received.want(t, "update x red, x green", "update x green, x blue")
}

func TestResync(t *testing.T) {
	t.Parallel()
	w := newCluster(t, nil, "a/x", "a/y")
	v, received := watching(t, w)
	received.take()
	paint(t, w, "a/x", "green") // not in the cache yet
	v.Resync()
	received.want(t, "update x red, x red", "update y red, y red")
}

// TestOrderOfKinds checks that the events of one step are ordered by kind, not by the order of the informers.
func TestOrderOfKinds(t *testing.T) {
	t.Parallel()
	w := newCluster(t, nil, "a/x")
	v, received := view.New(w, cache.Options{}), &events{}
	handle(t, v, &corev1.Service{}, received)
	handle(t, v, &corev1.Secret{}, received)
	handle(t, v, &corev1.ConfigMap{}, received)
	received.take()
	meta := metav1.ObjectMeta{Namespace: "a", Name: "x"}
	service := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	service.Name = "service"
	for _, obj := range []client.Object{service, &corev1.Secret{ObjectMeta: meta}} {
		if err := w.Client.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	paint(t, w, "a/x", "green")
	sync(t, v)
	received.want(t, "update x red, x green", "add x", "add service")
}
