package recording_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/recording"
)

// Without a recorder the pipeline runs as it is: recording costs nothing when it is off.
func TestOffIsThePipelineItself(t *testing.T) {
	t.Parallel()
	loop, err := pipeline.New(config(shop{}, &engine{}, owner("")))
	if err != nil {
		t.Fatal(err)
	}
	if got := recording.Reconciler(loop, nil, recording.ReplayOptions{}); got != ctrl.Reconciler(loop) {
		t.Errorf("want the loop, got %T", got)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, options := range map[string]recording.Options{
		"Dir is required":      {},
		"must not be negative": {Dir: t.TempDir(), Keep: -1},
		"MaxBytes -5 must not": {Dir: t.TempDir(), MaxBytes: -5},
		"make the folder":      {Dir: filepath.Join(file, "below")},
	} {
		if _, err := recording.New(options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: want an error with %q, got %v", options, want, err)
		}
	}
}

// The newest recordings are kept, also those of an earlier run of the operator; nothing else is left behind.
func TestKeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var names []string
	for n := range 5 {
		c := config(shop{}, &engine{}, owner(""))
		c.Clock = testingclock.NewFakePassiveClock(time.Date(2026, 1, 2, 3, 4, n/3, 0, zone()))
		pass(t, c, recording.Options{Dir: dir, Keep: 3})
		for _, file := range list(t, dir) {
			if name := filepath.Base(file); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	const first, second = "shop-shop-cart-20260101T213400.000000000Z", "shop-shop-cart-20260101T213401.000000000Z"
	want := []string{first + ".json", first + "-2.json", first + "-3.json", second + ".json", second + "-2.json"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	files := list(t, dir)
	left := []string{filepath.Join(dir, first+"-3.json"), filepath.Join(dir, second+"-2.json"), filepath.Join(dir, second+".json")}
	if diff := cmp.Diff(left, files); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	hidden, err := os.ReadDir(dir)
	if err != nil || len(hidden) != 3 {
		t.Errorf("want no other file, got %v, %v", hidden, err)
	}
	info, err := os.Stat(files[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("want a file for the operator's user alone, got %v, %v", info.Mode(), err)
	}
}

func TestMaxBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pass(t, config(shop{}, &engine{}, owner("")), recording.Options{Dir: dir, MaxBytes: 100})
	if files := list(t, dir); len(files) > 0 {
		t.Errorf("want a recording that is too large to be left out, got %v", files)
	}
}

func TestWhen(t *testing.T) {
	t.Parallel()
	unchanged := &engine{}
	changed := &engine{result: apply.Result{Objects: []apply.ObjectResult{{Outcome: apply.OutcomeCreated}}}}
	for name, c := range map[string]struct {
		config pipeline.Config[*widget.Widget, seen, seen]
		want   int
	}{
		"a child was created": {config(shop{}, &quiet{changed}, owner("")), 1},
		"blocked":             {config(shop{}, &quiet{unchanged}, owner("missing")), 1},
		"nothing to do":       {config(shop{}, &quiet{unchanged}, owner("")), 0},
		"the owner is gone":   {config(shop{}, &quiet{unchanged}), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pass(t, c.config, recording.Options{Dir: dir, When: recording.Changes})
			if files := list(t, dir); len(files) != c.want {
				t.Errorf("want %d recordings, got %v", c.want, files)
			}
		})
	}
}

// A paused owner has no pass, and one with a long name a file with a name that fits.
func TestOwners(t *testing.T) {
	t.Parallel()
	paused := owner("")
	paused.Annotations = map[string]string{pipeline.DefaultPauseAnnotation: "true"}
	dir := t.TempDir()
	pass(t, config(shop{}, &engine{}, paused), recording.Options{Dir: dir})
	if files := list(t, dir); len(files) != 0 {
		t.Errorf("want no recording of a paused owner, got %v", files)
	}

	long := owner("")
	long.Name = strings.Repeat("a", 253)
	long.Namespace = strings.Repeat("b", 63)
	c := config(shop{}, &engine{}, long)
	recorder, err := recording.New(recording.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	loop, err := pipeline.New(c)
	if err != nil {
		t.Fatal(err)
	}
	request := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: long.Namespace, Name: long.Name}}
	if _, err := recording.Reconciler(loop, recorder, replaying()).Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if files := list(t, dir); len(files) != 1 {
		t.Errorf("want one recording, got %v", files)
	}
}

func TestEveryFormOfASecretIsRedacted(t *testing.T) {
	t.Parallel()
	c := config(shop{}, &engine{}, owner(""), secret())
	c.Reconciler = forms{}
	text := recorded(t, c)
	for _, leak := range []string{"horse", "Y29ycmVjdCBob3JzZQ"} {
		if strings.Contains(text, leak) {
			t.Errorf("%q is in the recording:\n%s", leak, text)
		}
	}
	for _, form := range []string{
		`"as": "metadata"`, `"as": "unstructured"`, `"verb": "list"`, `"fields": "metadata.name=db"`, `"limit": 5`,
	} {
		if !strings.Contains(text, form) {
			t.Errorf("want a read with %s in the recording:\n%s", form, text)
		}
	}
	r, err := recording.Decode(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	out, err := recording.Replay(t.Context(), c, r, replaying())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := out.Encode(); err != nil || string(again) != text {
		t.Errorf("the replay is another one (%v):\n%s", err, again)
	}
}
