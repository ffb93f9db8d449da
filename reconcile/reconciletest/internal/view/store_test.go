package view_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
)

// decider is a fake sparse informer that keeps the content of objects named "ours".
type decider struct {
	toolscache.SharedIndexInformer

	runs bool
}

// others is the stored form of other objects. It does not implement client.Object.
type others struct{ of *metav1.PartialObjectMetadata }

func (o *others) GetObjectKind() schema.ObjectKind { return &metav1.TypeMeta{} }
func (o *others) DeepCopyObject() runtime.Object   { return o }
func (o *others) GetObjectMeta() metav1.Object     { return o.of }
func (d *decider) Begin()                          { d.runs = true }
func (d *decider) GetIndexer() toolscache.Indexer  { return strict{d.SharedIndexInformer.GetIndexer()} }
func (d *decider) Reduce(object any) (any, error) {
	cm := object.(*corev1.ConfigMap)
	if cm.Name == "ours" {
		return cm, nil
	}
	return &others{&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: cm.Namespace, Name: cm.Name, Labels: cm.Labels}}}, nil
}

func (d *decider) Accept(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandler, error) {
	if d.runs {
		return nil, errors.New("too late")
	}
	names := func(o any) client.Object {
		if of, only := o.(*others); only {
			return of.of
		}
		return o.(client.Object)
	}
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(o any, initial bool) { h.OnAdd(names(o), initial) },
		UpdateFunc: func(before, after any) { h.OnUpdate(names(before), names(after)) },
		DeleteFunc: func(o any) { h.OnDelete(names(o)) },
	}, nil
}

// strict is a store that returns an error for a read of a reduced object.
type strict struct{ toolscache.Indexer }

var errPart = errors.New("metadata only")

func (s strict) GetByKey(key string) (any, bool, error) {
	item, exists, err := s.Indexer.GetByKey(key)
	if _, part := item.(*others); part {
		err = errPart
	}
	return item, exists, err
}

// TestStore checks that the cache returns the objects of an informer with its own store.
func TestStore(t *testing.T) {
	t.Parallel()
	var made []*decider
	w := newCluster(t, nil, "a/ours", "a/theirs", "b/ours")
	v := view.New(w, cache.Options{NewInformer: func(
		lw toolscache.ListerWatcher, o runtime.Object, resync time.Duration, indexers toolscache.Indexers,
	) toolscache.SharedIndexInformer {
		if _, typed := o.(*corev1.ConfigMap); !typed {
			return toolscache.NewSharedIndexInformer(lw, o, resync, indexers)
		}
		made = append(made, &decider{SharedIndexInformer: toolscache.NewSharedIndexInformer(lw, o, resync, indexers)})
		return made[len(made)-1]
	}})
	byColor := func(o client.Object) []string { return []string{o.(*corev1.ConfigMap).Data["color"]} }
	received, ctx := &events{}, t.Context()
	handle(t, v, &corev1.ConfigMap{}, received)
	received.want(t, "add ours red, initially", "add theirs, initially", "add ours red, initially")
	if err := v.IndexField(ctx, &corev1.Secret{}, "color", byColor); err != nil {
		t.Fatal(err)
	}
	get := func(name string) (string, error) {
		cm := &corev1.ConfigMap{}
		err := v.Get(ctx, client.ObjectKeyFromObject(configMap(name)), cm)
		return cm.Data["color"], err
	}
	var part *view.PartialError
	if _, err := get("a/theirs"); !errors.Is(err, errPart) || !errors.As(err, &part) || part.What != "ConfigMap a/theirs" {
		t.Errorf("a read of a partial object: %v", err)
	}
	paint(t, w, "a/ours", "green")
	paint(t, w, "a/theirs", "green")
	create(t, w, "a/new")
	if color, err := get("a/ours"); color != "red" || err != nil {
		t.Errorf("before the cache sees it: %s, %v", color, err)
	}
	sync(t, v)
	received.want(t, "update ours red, ours green", "update theirs, theirs", "add new")
	if color, err := get("a/ours"); color != "green" || err != nil {
		t.Errorf("got %s, %v", color, err)
	}
	err := v.List(ctx, &corev1.ConfigMapList{}, client.InNamespace("a"))
	if !errors.As(err, &part) || !strings.Contains(err.Error(), "can't assign or convert") {
		t.Errorf("a list of partial objects: %v", err)
	}
	if diff := cmp.Diff([]string{"b/ours"}, listed(t, v, client.InNamespace("b"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a/ours", "b/ours"}, listed(t, v, client.MatchingLabels{"name": "ours"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	remove(t, w, "a/theirs")
	sync(t, v)
	received.want(t, "delete theirs")
	if _, err := get("a/theirs"); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("a read of a deleted object: %v", err)
	}
	v.Begin()
	informer, err := v.GetInformer(ctx, &corev1.ConfigMap{})
	if err != nil || len(made) != 1 {
		t.Fatal(err, len(made))
	}
	if _, err := informer.AddEventHandler(received.handler()); err == nil {
		t.Error("the handler is accepted although the informer is running")
	}
	if len(v.Whole()) > 0 {
		t.Errorf("stored entirely by mistake: %v", v.Whole())
	}
}

// TestIndexOfStore checks that an index is read from an informer with its own store.
func TestIndexOfStore(t *testing.T) {
	t.Parallel()
	w := newCluster(t, nil, "a/ours", "b/ours")
	v := view.New(w, cache.Options{NewInformer: func(
		lw toolscache.ListerWatcher, o runtime.Object, resync time.Duration, indexers toolscache.Indexers,
	) toolscache.SharedIndexInformer {
		return &decider{SharedIndexInformer: toolscache.NewSharedIndexInformer(lw, o, resync, indexers)}
	}})
	for _, field := range []string{"color", "name"} {
		if err := v.IndexField(t.Context(), &corev1.ConfigMap{}, field, func(o client.Object) []string {
			return []string{map[string]string{"color": o.(*corev1.ConfigMap).Data["color"], "name": o.GetName()}[field]}
		}); err != nil {
			t.Fatal(err)
		}
	}
	paint(t, w, "a/ours", "green")
	sync(t, v)
	for _, c := range []struct {
		opts []client.ListOption
		want []string
	}{
		{[]client.ListOption{client.MatchingFields{"color": "green"}}, []string{"a/ours"}},
		{[]client.ListOption{client.MatchingFields{"name": "ours"}}, []string{"a/ours", "b/ours"}},
		{[]client.ListOption{client.MatchingFields{"name": "ours"}, client.InNamespace("b")}, []string{"b/ours"}},
		{[]client.ListOption{client.MatchingFields{"name": "ours", "color": "red"}}, []string{"b/ours"}},
	} {
		if diff := cmp.Diff(c.want, listed(t, v, c.opts...)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.opts, diff)
		}
	}
	if err := v.List(t.Context(), &corev1.ConfigMapList{}, client.MatchingFields{"size": "1"}); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a field without an index: %v", err)
	}
}
