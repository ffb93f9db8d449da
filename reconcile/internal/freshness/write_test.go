package freshness_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

func TestHiddenBy(t *testing.T) {
	t.Parallel()
	cached := func(version string) client.Object {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
	}
	for name, c := range map[string]struct {
		write  freshness.Write
		cached client.Object
		want   bool
	}{
		"nothing written":                    {freshness.Write{}, cached("5"), false},
		"nothing written, not in the cache":  {freshness.Write{}, nil, false},
		"not in the cache yet":               {freshness.Wrote("7", time.Time{}), nil, true},
		"older":                              {freshness.Wrote("7", time.Time{}), cached("6"), true},
		"older by a digit":                   {freshness.Wrote("10", time.Time{}), cached("9"), true},
		"in the cache":                       {freshness.Wrote("7", time.Time{}), cached("7"), false},
		"newer":                              {freshness.Wrote("7", time.Time{}), cached("12"), false},
		"a version that cannot be compared":  {freshness.Wrote("7", time.Time{}), cached("x"), false},
		"a write that cannot be compared":    {freshness.Wrote("x", time.Time{}), cached("7"), false},
		"an object without a version at all": {freshness.Wrote("7", time.Time{}), cached(""), false},
	} {
		if got := c.write.HiddenBy(c.cached); got != c.want {
			t.Errorf("%s: hidden %v, want %v", name, got, c.want)
		}
	}
}

func TestLeft(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	w := freshness.Wrote("7", start)
	for after, want := range map[time.Duration]time.Duration{
		0: 10 * time.Second, 4 * time.Second: 6 * time.Second, 10 * time.Second: 0, time.Hour: 0, -time.Hour: 10 * time.Second,
	} {
		if got := w.Left(start.Add(after), freshness.Deadline); got != want {
			t.Errorf("after %s: %s left, want %s", after, got, want)
		}
	}
	if left := (freshness.Write{}).Left(start, freshness.Deadline); left != 0 {
		t.Errorf("nothing written: %s left", left)
	}
}
