package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// TestUnprovenIsReadOnce checks that the engine reads the managedFields of a child in the mode Once, which the cache does not show, once
// per version of the object if they do not prove that it is a child.
func TestUnprovenIsReadOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	o := settings()
	o.Labels = map[string]string{applyset.PartOfLabel: applyset.ID(corev1.SchemeGroupVersion.WithKind("ConfigMap").GroupKind(), s.key())}
	s.create(o)
	s.strip()
	var reads []int
	for _, change := range []bool{false, false, true, false} {
		if change {
			s.update(func(o *corev1.ConfigMap) { o.Data["color"] = "red" })
			s.strip()
		}
		before := s.liveReads
		result := s.apply(planOf(settings(), apply.Once))
		if result.PruneBlocked == nil || result.PruneBlocked.Reason != apply.ReasonUnproven {
			t.Fatalf("blocked: %v; want the reason %s", result.PruneBlocked, apply.ReasonUnproven)
		}
		reads = append(reads, s.liveReads-before)
	}
	if diff := cmp.Diff([]int{1, 0, 1, 0}, reads); diff != "" {
		t.Errorf("reads of each pass (-want +got):\n%s", diff)
	}
}
