package controller

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

func TestLifted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options Options
		want    apply.Options
		err     string
	}{
		"nothing is set": {},
		"the options of the controller": {
			options: Options{FieldManager: "shop", FormerManagers: []string{"manager"}, Finalizer: "example.com/shop", ContestInterval: time.Minute},
			want:    apply.Options{FieldManager: "shop", FormerManagers: []string{"manager"}, Finalizer: "example.com/shop", ContestInterval: time.Minute},
		},
		"those of the engine": {
			options: Options{Apply: apply.Options{FieldManager: "shop", Finalizer: "example.com/shop", Domain: "example.com"}},
			want:    apply.Options{FieldManager: "shop", Finalizer: "example.com/shop", Domain: "example.com"},
		},
		"the same twice": {
			options: Options{FieldManager: "shop", Apply: apply.Options{FieldManager: "shop"}},
			want:    apply.Options{FieldManager: "shop"},
		},
		"two field managers": {
			options: Options{FieldManager: "shop", Apply: apply.Options{FieldManager: "bank"}},
			err:     `options: FieldManager is "shop" and Apply.FieldManager is "bank": leave one of the two out`,
		},
		"two finalizers": {
			options: Options{Finalizer: "example.com/a", Apply: apply.Options{Finalizer: "example.com/b"}},
			err:     `options: Finalizer is "example.com/a" and Apply.Finalizer is "example.com/b": leave one of the two out`,
		},
		"two lists of former managers": {
			options: Options{FormerManagers: []string{"a"}, Apply: apply.Options{FormerManagers: []string{"b"}}},
			err:     `options: FormerManagers is ["a"] and Apply.FormerManagers is ["b"]: leave one of the two out`,
		},
		"two intervals": {
			options: Options{ContestInterval: time.Second, Apply: apply.Options{ContestInterval: time.Minute}},
			err:     `options: ContestInterval is 1s and Apply.ContestInterval is 1m0s: leave one of the two out`,
		},
		"kinds": {
			options: Options{Apply: apply.Options{Kinds: []apply.ChildKind{}}},
			err:     `Options.Apply.Kinds is set: the builder sets it from Owns, Writes and Retired`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := test.options.lifted()
			text := ""
			if err != nil {
				text = err.Error()
			} else if diff := cmp.Diff(test.want, got.Apply); diff != "" {
				t.Errorf("options of the engine (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.err, text); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
