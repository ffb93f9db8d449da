package memory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

func object(uid types.UID, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: version}}
}

func TestRecall(t *testing.T) {
	now := time.Now()
	entry := &metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(`{"f:data":{}}`)}
	applied := func() *memory.Child {
		m := &memory.Child{}
		m.Learn(memory.Answer{Object: object("1", "10"), Intent: 7, Owned: memory.Remembered(entry, ""), Member: true, Read: true, Final: true}, now)
		return m
	}
	look := memory.Look{Intent: 7, Now: now, Deadline: time.Second}
	t.Run("the version of a write is proven", func(t *testing.T) {
		r := applied().Recall(object("1", "10"), look)
		if !r.Same || !r.Proven || !r.Known || !r.Ours || r.Hidden || r.Owned == (memory.OwnedFields{}) {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("an older version is stale until the deadline", func(t *testing.T) {
		r := applied().Recall(object("1", "9"), look)
		if !r.Hidden || !r.Proven || r.Wait != time.Second {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("another plan is not proven", func(t *testing.T) {
		other := look
		other.Intent = 8
		if r := applied().Recall(object("1", "10"), other); r.Proven || r.Same || !r.Known {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("another object is unknown", func(t *testing.T) {
		m := applied()
		r := m.Recall(object("2", "11"), look)
		if r.Known || r.Ours || r.Proven || r.Owned != (memory.OwnedFields{}) {
			t.Errorf("got %+v", r)
		}
		m.Remember(&memory.Changes{Unproven: r.Lapsed, UID: "2"}, now)
		if r := m.Recall(object("2", "12"), look); !r.Known || r.Proven || r.Owned != (memory.OwnedFields{}) {
			t.Errorf("fields of the former object are taken for ours: %+v", r)
		}
	})
	t.Run("a missing object is stale only after a write", func(t *testing.T) {
		if r := applied().Recall(nil, look); !r.Hidden {
			t.Errorf("got %+v", r)
		}
		if r := (&memory.Child{}).Recall(nil, look); r.Hidden || r.Proven {
			t.Errorf("got %+v", r)
		}
	})
}

// Fields that name the owner are restored unchanged for any owner.
func TestOwnedFieldsNameTheOwner(t *testing.T) {
	t.Parallel()
	for _, owner := range []types.UID{"", "6d6f7374-6c79", "6c657373-6f66"} {
		raw := fmt.Sprintf(`{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"%s\"}":{"f:kind":{}}}}}`, owner)
		got := memory.Remembered(&metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(raw)}, owner).Set()
		want, err := fieldset.Parse([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("owner %q (-want +got):\n%s", owner, diff)
		}
	}
}
