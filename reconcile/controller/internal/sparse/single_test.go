package sparse_test

import (
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
)

// oneSecret is a handler for one object.
type oneSecret struct {
	name string

	mu  sync.Mutex
	got []string
}

func (o *oneSecret) Concerns() types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: o.name}
}

func (o *oneSecret) note(event string, object any) {
	if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	found := object.(*corev1.Secret)
	o.got = append(o.got, event+" "+found.Name+" "+string(found.Data["value"]))
}

func (o *oneSecret) OnAdd(object any, _ bool) { o.note("add", object) }
func (o *oneSecret) OnUpdate(_, object any)   { o.note("update", object) }
func (o *oneSecret) OnDelete(object any)      { o.note("delete", object) }
func (o *oneSecret) has(events ...string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Equal(o.got, events)
}

func TestHandlerOfOneObjectKeepsItsContent(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	settings := &oneSecret{name: "settings"}
	if _, err := s.AddEventHandler(settings); err != nil {
		t.Fatal(err)
	}
	s.source.Add(secret("settings", "5", "first"))
	s.source.Add(secret("theirs", "6", "secret"))
	s.run(nobody)
	if got, only := s.read("settings"); only != nil || got != "first" {
		t.Errorf("settings: got %q, %v", got, only)
	}
	if _, only := s.read("theirs"); only == nil {
		t.Error("theirs is whole, want the metadata alone")
	}
	s.source.Modify(secret("settings", "7", "second"))
	s.source.Modify(secret("theirs", "8", "other secret"))
	s.eventually(func() bool { return settings.has("add settings first", "update settings second") })
	s.source.Delete(secret("settings", "9", "second"))
	s.source.Delete(secret("theirs", "10", "other secret"))
	s.eventually(func() bool {
		return settings.has("add settings first", "update settings second", "delete settings second")
	})

	if _, err := s.AddEventHandler(&oneSecret{name: "settings"}); err != nil {
		t.Errorf("another handler of an object that is whole: %v", err)
	}
	if _, err := s.AddEventHandler(&oneSecret{name: "theirs"}); err == nil {
		t.Error("a handler of an object that is not whole: want an error while the cache runs")
	}
}
