package reconcile_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile"
)

func TestNewest(t *testing.T) {
	t.Parallel()
	at := func(second int, name string) *corev1.Pod {
		created := metav1.NewTime(time.Unix(int64(second), 0))
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: created}}
	}
	names := func(pods []*corev1.Pod) []string {
		out := []string{}
		for _, pod := range pods {
			out = append(out, pod.Name)
		}
		return out
	}
	given := []*corev1.Pod{at(2, "b"), at(9, "late"), at(2, "a"), at(5, "mid")}
	for n, want := range map[int][2][]string{
		-1: {{}, {"late", "mid", "b", "a"}},
		0:  {{}, {"late", "mid", "b", "a"}},
		3:  {{"late", "mid", "b"}, {"a"}},
		4:  {{"late", "mid", "b", "a"}, {}},
		9:  {{"late", "mid", "b", "a"}, {}},
	} {
		newest, older := reconcile.Newest(given, n)
		if diff := cmp.Diff(want, [2][]string{names(newest), names(older)}); diff != "" {
			t.Errorf("newest %d (-want +got):\n%s", n, diff)
		}
	}
	if given[0].Name != "b" {
		t.Error("the argument was sorted")
	}
}
