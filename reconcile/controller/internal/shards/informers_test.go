package shards_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// pages is a fake API server that returns one object per page.
type pages struct {
	count   int
	asked   []metav1.ListOptions
	watched []metav1.ListOptions
	failed  error
}

func (p *pages) source() toolscache.ListerWatcher {
	return &toolscache.ListWatch{
		ListWithContextFunc: func(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
			p.asked = append(p.asked, options)
			at, _ := strconv.Atoi(options.Continue)
			list := &corev1.ConfigMapList{Items: []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: strconv.Itoa(at)}}}}
			if at+1 < p.count {
				list.Continue = strconv.Itoa(at + 1)
			}
			return list, p.failed
		},
		WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			p.watched = append(p.watched, options)
			return watch.NewFake(), nil
		},
	}
}

// TestInformers checks that informers list and watch the selection, and that All lists the objects of each namespace in pages without it.
func TestInformers(t *testing.T) {
	t.Parallel()
	one, two := &pages{count: 3}, &pages{count: 2}
	informers := shards.NewInformers(shards.ByLabel("shard", "a").Within("team=x", "spec.class=y"))
	lists := toolscache.ToListerWatcherWithContext(informers.Add(one.source()))
	informers.Add(two.source())
	if _, err := lists.ListWithContext(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := lists.WatchWithContext(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	selected := []metav1.ListOptions{{LabelSelector: "shard=a,team=x", FieldSelector: "spec.class=y"}}
	if diff := cmp.Diff([][]metav1.ListOptions{selected, selected}, [][]metav1.ListOptions{one.asked, one.watched}); diff != "" {
		t.Errorf("options of the informer (-want +got):\n%s", diff)
	}
	one.asked = nil
	var names []string
	if err := informers.All(t.Context(), func(o client.Object) { names = append(names, o.GetName()) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "0", "1"}, names); diff != "" {
		t.Errorf("all objects (-want +got):\n%s", diff)
	}
	if want := (metav1.ListOptions{Limit: 500, Continue: "2"}); !cmp.Equal(want, one.asked[2]) {
		t.Errorf("the third page is requested with %+v, want %+v", one.asked[2], want)
	}
	two.failed = errors.New("no connection")
	if err := informers.All(t.Context(), func(client.Object) {}); !errors.Is(err, two.failed) {
		t.Errorf("got %v, want %v", err, two.failed)
	}
}
