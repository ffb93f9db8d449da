package tracked

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// TestBehind has one row for each state of the cache after a write.
func TestBehind(t *testing.T) {
	t.Parallel()
	owner, child := types.NamespacedName{Namespace: "default", Name: "shop"}, types.NamespacedName{Namespace: "default", Name: "page"}
	cached := func(uid types.UID, version string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: version}}
	}
	terminating := cached("1", "5")
	terminating.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}

	for name, tc := range map[string]struct {
		purpose declaration.Purpose
		key     types.NamespacedName
		version string // of the write; empty for a deletion
		object  *corev1.ConfigMap
		err     error
		behind  bool
	}{
		"a child in the written version":    {declaration.PurposeOwns, child, "7", cached("1", "7"), nil, false},
		"a child in a later version":        {declaration.PurposeOwns, child, "7", cached("1", "8"), nil, false},
		"a child in an older version":       {declaration.PurposeOwns, child, "7", cached("1", "6"), nil, true},
		"a created child that is missing":   {declaration.PurposeOwns, child, "7", nil, nil, true},
		"the owner in an older version":     {declaration.PurposeFor, owner, "7", cached("1", "6"), nil, true},
		"the owner is missing":              {declaration.PurposeFor, owner, "7", nil, nil, false},
		"a child of the owner's kind":       {declaration.PurposeFor, child, "7", nil, nil, true},
		"a deleted child that is missing":   {declaration.PurposeOwns, child, "", nil, nil, false},
		"a deleted child that exists":       {declaration.PurposeOwns, child, "", cached("1", "6"), nil, true},
		"a deleted child that was replaced": {declaration.PurposeOwns, child, "", cached("2", "6"), nil, false},
		"a deleted child that terminates":   {declaration.PurposeOwns, child, "", terminating, nil, false},
		"a failed read":                     {declaration.PurposeFor, owner, "7", nil, errors.New("not synced"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := NewPendingWrites(time.Minute)
			l.cached = func(write) (client.Object, error) {
				if tc.object == nil {
					return nil, tc.err
				}
				return tc.object, tc.err
			}
			kind := &declaration.Kind{Declarations: []declaration.Declaration{{Purpose: tc.purpose}}}
			start := time.Unix(100, 0)
			l.wrote(owner, start, []write{{kind: kind, key: tc.key, uid: "1", version: tc.version}})
			if behind, expired := l.Behind(owner, start.Add(time.Second)); behind != tc.behind || expired {
				t.Errorf("after a second: behind %t, expired %t, want behind %t", behind, expired, tc.behind)
			}
			if behind, expired := l.Behind(owner, start.Add(time.Minute)); behind || expired != tc.behind {
				t.Errorf("at the deadline: behind %t, expired %t, want expired %t", behind, expired, tc.behind)
			}
		})
	}
}
