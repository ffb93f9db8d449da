package shardclaims

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// told notes the names of the objects of events, with what the events say.
type told map[string]string

func (t told) Eventf(object, _ runtime.Object, _, reason, _, note string, args ...any) { //nolint:revive // the interface of client-go
	t[object.(client.Object).GetName()+" "+reason] += fmt.Sprintf(note, args...)
}

// TestWaits: an owner of this shard that another one keeps is told of once, after half a minute, and counts until it is given back.
func TestWaits(t *testing.T) {
	t.Parallel()
	const annotation = shards.AnnotationPrefix + "c"
	owner := func(name, shard, holder string) corev1.ConfigMap {
		o := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{"shard": shard}}}
		if holder != "" {
			o.Annotations = map[string]string{annotation: holder}
		}
		return o
	}
	owners := []corev1.ConfigMap{
		owner("mine", "a", "a"), owner("unclaimed", "a", ""), owner("theirs", "b", "b"), owner("stuck", "a", "gone"), owner("handed", "a", "b"),
	}
	var failed error
	now := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	events := told{}
	w := &waits{
		Part: shards.PartOf(&shards.Shard{Name: "a", Label: "shard"}), annotation: annotation, recorder: events, clock: now, since: map[types.UID]*ownerWait{},
		list: func(context.Context) (client.ObjectList, error) {
			return &corev1.ConfigMapList{Items: slices.Clone(owners)}, failed
		},
	}
	step := func(after time.Duration, waiting int64) {
		t.Helper()
		now.SetTime(now.Now().Add(after))
		if err := w.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.count.Load(); got != waiting {
			t.Errorf("%d owners wait, want %d", got, waiting)
		}
	}
	step(0, 0)
	owners[4].Annotations = nil // it is given back in time
	step(patience-time.Second, 0)
	if len(events) > 0 {
		t.Errorf("told too early: %v", events)
	}
	step(time.Second, 1)
	step(time.Hour, 1)
	want := told{"stuck ShardWaits": `shard "gone" has claimed it and does not give it back to shard "a": ` +
		`run a process of shard "gone", or remove the annotation shard.reconcilekit.dev/c`}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	owners[3].Annotations = map[string]string{annotation: "b"} // another shard has it now, which may give it back
	step(time.Hour, 0)
	owners[3].Annotations = nil
	step(time.Hour, 0)
	if failed = errors.New("not synced"); w.look(t.Context()) == nil {
		t.Error("a list that fails is no error")
	}
}
