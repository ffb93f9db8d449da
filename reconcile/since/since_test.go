package since_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/since"
)

const name = "example.com/idle-since"

var now = time.Date(2026, 5, 1, 12, 0, 0, 5e8, time.UTC)

func marked(value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{name: value, "other": "kept"}}}
}

func created(o *corev1.ConfigMap, at string) *corev1.ConfigMap {
	when, err := time.Parse(time.RFC3339, at)
	if err != nil {
		panic(err)
	}
	o.CreationTimestamp = metav1.NewTime(when)
	return o
}

func TestOf(t *testing.T) {
	t.Parallel()
	var missing *corev1.ConfigMap
	second := now.Truncate(time.Second)
	for title, test := range map[string]struct {
		stored metav1.Object
		absent bool // whether the state does not hold
		wait   time.Duration
		since  time.Time
		due    bool
	}{
		"no object":                   {wait: time.Minute, since: second},
		"a nil pointer":               {stored: missing, wait: time.Minute, since: second},
		"no annotation":               {stored: &corev1.ConfigMap{}, wait: time.Minute, since: second},
		"true for less than the wait": {stored: marked("2026-05-01T11:59:30Z"), wait: time.Minute, since: second.Add(-30 * time.Second)},
		"true for the wait":           {stored: marked("2026-05-01T11:59:00Z"), wait: time.Minute, since: second.Add(-time.Minute), due: true},
		"in another zone":             {stored: marked("2026-05-01T13:59:30+02:00"), wait: time.Minute, since: second.Add(-30 * time.Second)},
		"from the future":             {stored: marked("2027-01-01T00:00:00Z"), wait: time.Minute, since: second},
		"not readable":                {stored: marked("yesterday"), wait: time.Minute, since: second},
		"a copy of an object": {
			stored: created(marked("2026-05-01T11:00:00Z"), "2026-05-01T11:59:30Z"), wait: time.Minute, since: second.Add(-30 * time.Second),
		},
		"always, although the object is newer": {
			stored: created(marked("1970-01-01T00:00:00Z"), "2026-05-01T11:59:30Z"), wait: time.Minute, since: since.Always(), due: true,
		},
		"created before the timestamp": {
			stored: created(marked("2026-05-01T11:59:30Z"), "2026-05-01T11:00:00Z"), wait: time.Minute, since: second.Add(-30 * time.Second),
		},
		"created by a clock that is ahead": {
			stored: created(marked("2026-05-01T11:59:30Z"), "2026-05-01T12:05:00Z"), wait: time.Minute, since: second,
		},
		"no wait":        {since: second, due: true},
		"false":          {stored: marked("2026-05-01T11:00:00Z"), absent: true, wait: time.Minute},
		"false, no wait": {absent: true},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			fact := since.Fact{Annotation: name, For: test.wait}
			got := fact.Of(test.stored, !test.absent, now)
			if !got.Since.Equal(test.since) || got.Due != test.due {
				t.Errorf("got %v %t, want %v %t", got.Since, got.Due, test.since, test.due)
			}
			if waits := !test.absent && !test.due; waits != !got.At.IsZero() || waits && !got.At.Equal(test.since.Add(test.wait)) {
				t.Errorf("got at %v", got.At)
			}
			if (len(got.Rules()) == 1) != !test.absent {
				t.Errorf("got rules %v", got.Rules())
			}
		})
	}
}

func TestMarkCopiesAnnotations(t *testing.T) {
	t.Parallel()
	planned := marked("2026-05-01T11:00:00Z")
	given := planned.Annotations
	fact := since.Fact{Annotation: name, For: time.Minute}
	fact.Of(nil, false, now).Mark(planned)
	if len(planned.Annotations) != 1 || len(given) != 2 {
		t.Errorf("got %v, was given %v", planned.Annotations, given)
	}
	bare := &corev1.ConfigMap{}
	fact.Of(nil, false, now).Mark(bare)
	if bare.Annotations != nil {
		t.Errorf("got %v, want no map", bare.Annotations)
	}
}

// FuzzOf checks that a wait ends within its length for any value of the annotation.
func FuzzOf(f *testing.F) {
	f.Add("2026-05-01T11:59:30Z", int64(time.Minute))
	f.Add("9999-12-31T23:59:59Z", int64(0))
	f.Add("0000-01-01T00:00:00Z", int64(time.Hour))
	f.Fuzz(func(t *testing.T, value string, wait int64) {
		if wait < 0 || wait > int64(1000*time.Hour) {
			return
		}
		got := since.Fact{Annotation: name, For: time.Duration(wait)}.Of(marked(value), true, now)
		if got.Since.After(now) || got.At.After(now.Add(time.Duration(wait))) || got.Due != got.At.IsZero() {
			t.Errorf("got %+v", got)
		}
	})
}
