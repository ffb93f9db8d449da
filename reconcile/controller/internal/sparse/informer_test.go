package sparse_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	source "k8s.io/client-go/tools/cache/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/sparse"
)

const uid = "11111111-2222-3333-4444-555555555555"

// store is a sparse informer of Secrets without an API server.
type store struct {
	t      *testing.T
	source *source.FakeControllerSource
	*sparse.Informer

	link   *sparse.Link
	wanted atomic.Bool
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{t: t, source: source.NewFakeControllerSource()}
	s.Informer = sparse.NewInformer(s.source, &corev1.Secret{}, 0, toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc},
		corev1.SchemeGroupVersion.WithKind("Secret"), sparse.Ours{
			Controllers: []string{"shop"}, Has: func(o metav1.Object) bool { return o.GetLabels()["ours"] != "" },
		})
	s.link = sparse.NewLink("shop", func(client.Object) bool { return s.wanted.Load() })
	return s
}

// run starts the informer with a watch.
func (s *store) run(h toolscache.ResourceEventHandler) {
	s.t.Helper()
	go s.RunWithContext(s.t.Context())
	informer, err := sparse.Cache{Cache: fixed{informer: s.Informer}, Link: s.link}.GetInformer(s.t.Context(), &corev1.Secret{})
	if err != nil {
		s.t.Fatal(err)
	}
	registered, err := informer.AddEventHandler(h)
	if err != nil {
		s.t.Fatal(err)
	}
	s.eventually(registered.HasSynced)
}

// fixed is a cache with one informer.
type fixed struct {
	cache.Cache
	informer cache.Informer
}

func (f fixed) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return f.informer, nil
}

func (s *store) eventually(is func() bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatal("it does not come to that in a minute")
		}
	}
}

// read returns the data of a Secret in the cache, or the error of the read.
func (s *store) read(name string) (string, *sparse.MetadataOnlyError) {
	s.t.Helper()
	item, exists, err := s.GetIndexer().GetByKey("shop/" + name)
	only := (*sparse.MetadataOnlyError)(nil)
	if errors.As(err, &only) {
		return "", only
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if !exists {
		return "missing", nil
	}
	return string(item.(*corev1.Secret).Data["value"]), nil
}

func (s *store) keep(only *sparse.MetadataOnlyError, o *corev1.Secret) {
	s.t.Helper()
	if err := only.Keep(o); err != nil {
		s.t.Fatal(err)
	}
}

func secret(name, version, value string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: uid, ResourceVersion: version},
		Data:       map[string][]byte{"value": []byte(value)},
	}
}

var nobody = toolscache.ResourceEventHandlerFuncs{} //nolint:gochecknoglobals // a constant

func TestChildrenKeepTheirContent(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ours := secret("ours", "5", "whole")
	ours.Labels = map[string]string{"ours": "yes"}
	s.source.Add(ours)
	s.source.Add(secret("theirs", "6", "secret"))
	s.run(nobody)
	if got, only := s.read("ours"); only != nil || got != "whole" {
		t.Errorf("ours: got %q, %v", got, only)
	}
	_, only := s.read("theirs")
	if only == nil {
		t.Fatal("theirs: want the error of an object without content")
	}
	if !strings.Contains(only.Error(), "Secret shop/theirs") || !strings.Contains(only.Error(), "controller.Whole") {
		t.Errorf("the error names neither the object nor the way out: %v", only)
	}
	if m := only.Metadata(); m.UID != uid || m.ResourceVersion == "" || m.Kind != "Secret" {
		t.Errorf("the metadata that is kept: got %v", m)
	}
	if !s.link.MetadataOnly(types.NamespacedName{Namespace: "shop", Name: "theirs"}) ||
		s.link.MetadataOnly(types.NamespacedName{Namespace: "shop", Name: "ours"}) {
		t.Error("want the metadata of theirs alone")
	}
	listed, err := s.GetIndexer().ByIndex("field:"+sparse.OursField, "shop/")
	if err != nil || len(listed) != 1 {
		t.Errorf("list ours: got %v, %v", listed, err)
	}
	for _, item := range s.GetIndexer().List() {
		if o, ok := item.(*corev1.Secret); ok && o.Name == "theirs" {
			t.Error("a list has a Secret without its content")
		}
	}
}

func TestReadObjectsKeepTheirContentWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.source.Add(secret("theirs", "5", "one"))
	s.run(nobody)
	_, only := s.read("theirs")
	version := only.Metadata().ResourceVersion
	s.keep(only, secret("theirs", version, "one"))
	if _, only = s.read("theirs"); only == nil {
		t.Fatal("it is kept although nobody needs it")
	}
	s.wanted.Store(true)
	s.keep(only, secret("theirs", version, "one"))
	if got, only := s.read("theirs"); only != nil || got != "one" {
		t.Errorf("what was read: got %q, %v", got, only)
	}
	s.source.Modify(secret("theirs", "", "two"))
	s.eventually(func() bool { got, _ := s.read("theirs"); return got == "two" })
	s.link.Unread()
	if got, _ := s.read("theirs"); got != "two" {
		t.Errorf("what is still read: got %q", got)
	}
	s.wanted.Store(false)
	s.link.Unread()
	if _, only := s.read("theirs"); only == nil {
		t.Error("it is kept although nobody needs it any more")
	}
}

func TestLiveReadsAreNotOlderThanTheCache(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.wanted.Store(true)
	s.source.Add(secret("other", "", "1"))
	s.source.Add(secret("theirs", "", "2")) // version 2
	s.wanted.Store(false)
	s.run(nobody)
	_, only := s.read("theirs")
	s.wanted.Store(true)
	if err := only.Keep(secret("theirs", "1", "older")); err == nil || !strings.Contains(err.Error(), "older than 2") {
		t.Errorf("an older answer: got %v", err)
	}
	another := secret("theirs", "9", "of another")
	another.UID = "99999999-2222-3333-4444-555555555555"
	s.keep(only, another)
	if got, only := s.read("theirs"); only == nil {
		t.Errorf("the content of another object of the name: got %q", got)
	}
	s.keep(only, secret("theirs", "3", "newer"))
	if got, _ := s.read("theirs"); got != "newer" {
		t.Errorf("a newer answer: got %q", got)
	}
	s.keep(only, secret("theirs", "2", "equal"))
	if got, _ := s.read("theirs"); got != "newer" {
		t.Errorf("after an older one: got %q", got)
	}
}

func TestAControllerIsKnownOnlyToInformersThatWereMadeForIt(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if s.link.Known() || s.link.Sparse() {
		t.Error("it is known before it is linked")
	}
	other := newStore(t)
	other.link = sparse.NewLink("other", func(client.Object) bool { return false })
	s.run(nobody)
	other.run(nobody)
	if !s.link.Known() || other.link.Known() || !other.link.Sparse() {
		t.Errorf("got %v and %v, want that of the shop alone", s.link.Known(), other.link.Known())
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, name := range []string{"a", "b", "c"} {
		s.source.Add(secret(name, "", "one"))
	}
	s.run(nobody)
	all := func(client.Object) bool { return true }
	if got := s.link.Missing("elsewhere", all); len(got) != 0 {
		t.Errorf("in another namespace: got %v", got)
	}
	s.wanted.Store(true)
	for _, one := range s.link.Missing("shop", func(o client.Object) bool { return o.GetName() != "c" }) {
		if one.Key.Name == "a" {
			one.Gone()
			continue
		}
		one.Take(secret("b", "9", "two"))
	}
	left := s.link.Missing("", all)
	if len(left) != 1 || left[0].Key.Name != "c" {
		t.Errorf("left: got %v", left)
	}
	if got, _ := s.read("a"); got != "missing" {
		t.Errorf("what is gone: got %q", got)
	}
	if got, _ := s.read("b"); got != "two" {
		t.Errorf("what was taken: got %q", got)
	}
	if got := len(s.GetIndexer().List()); got != 2 {
		t.Errorf("list: got %d, want b and the metadata of c", got)
	}
}

func TestEventsOfForeignObjectsHaveMetadata(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	theirs := secret("theirs", "", "one")
	theirs.Labels = map[string]string{"app": "x"}
	theirs.OwnerReferences = []metav1.OwnerReference{{Kind: "Widget", Name: "w"}}
	s.source.Add(theirs)
	events := make(chan *metav1.PartialObjectMetadata, 1)
	s.run(toolscache.ResourceEventHandlerFuncs{AddFunc: func(o any) { events <- o.(*metav1.PartialObjectMetadata) }})
	got := <-events
	if got.Name != "theirs" || got.UID != uid || got.Labels["app"] != "x" || len(got.OwnerReferences) != 1 || got.Kind != "Secret" {
		t.Errorf("got %v", got)
	}
}

func TestUnknownUsersKeepAllContent(t *testing.T) {
	t.Parallel()
	byType := toolscache.Indexers{"field:type": func(o any) ([]string, error) { return []string{string(o.(*corev1.Secret).Type)}, nil }}
	for name, add := range map[string]func(*store) error{
		"a handler": func(s *store) error { _, err := s.AddEventHandler(nobody); return err },
		"an index":  func(s *store) error { return s.AddIndexers(byType) },
	} {
		t.Run(name+" before the start", func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			if err := add(s); err != nil {
				t.Fatal(err)
			}
			s.source.Add(secret("theirs", "5", "whole"))
			s.run(nobody)
			if got, only := s.read("theirs"); only != nil || got != "whole" {
				t.Errorf("got %q, %v", got, only)
			}
		})
		t.Run(name+" after the start", func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			s.run(nobody)
			if err := add(s); err == nil || !strings.Contains(err.Error(), "controller.Whole") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestLiveReadsAreNotConcurrent(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.source.Add(secret("theirs", "5", "one"))
	s.run(nobody)
	_, only := s.read("theirs")
	waited, done, err := only.Turn(t.Context())
	if waited || err != nil {
		t.Fatalf("the first: got %v, %v", waited, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := only.Turn(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("one whose pass ends: got %v", err)
	}
	second := make(chan bool)
	go func() {
		waited, done, _ := only.Turn(t.Context())
		done()
		second <- waited
	}()
	time.Sleep(10 * time.Millisecond)
	done()
	if !<-second {
		t.Error("the second did not wait")
	}
}
