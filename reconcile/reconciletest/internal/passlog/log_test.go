package passlog_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/passlog"
)

func TestKeptLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keep bool
		want []string
	}{
		"every line":  {true, []string{"made [] [name a]", "Reconciler error: refused [controller web] [name b]", "no error"}},
		"errors only": {false, []string{"Reconciler error: refused [] [name b]", "no error"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := passlog.New(c.keep)
			logger := log.Logger()
			logger.Info("made", "name", "a")
			logger.V(1).Info("ignored line")
			logger.WithName("web").WithValues("controller", "web").Error(errors.New("refused"), "Reconciler error", "name", "b")
			logger.Error(nil, "no error")
			if diff := cmp.Diff(c.want, log.All()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if log.LastError() != "refused" {
				t.Errorf("the last error is %q", log.LastError())
			}
		})
	}
}

// TestValues checks that loggers that are derived from the same logger do not share values.
func TestValues(t *testing.T) {
	t.Parallel()
	log := passlog.New(true)
	base := log.Logger().WithValues("a", 1, "b", 2).WithValues("c", 3)
	one, other := base.WithValues("d", 4), base.WithValues("e", 5)
	one.Info("one")
	other.Info("other")
	want := []string{"one [a 1 b 2 c 3 d 4] []", "other [a 1 b 2 c 3 e 5] []"}
	if diff := cmp.Diff(want, log.All()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPanicked checks that the first panic that controller-runtime reports is recorded. An error that mentions a panic is not a panic.
func TestPanicked(t *testing.T) {
	t.Parallel()
	log := passlog.New(false)
	log.Logger().Error(errors.New("panic: it says"), "Reconciler error")
	log.Logger().Error(errors.New("[recovered] it says"), "Reconciler error")
	if text := log.Panicked(); text != "" {
		t.Errorf("panicked: %q", text)
	}
	for _, what := range []string{"first", "second"} {
		log.Logger().Error(fmt.Errorf("panic: %s [recovered]", what), "Observed a panic")
	}
	if text := log.Panicked(); text != "panic: first [recovered]" {
		t.Errorf("panicked: %q", text)
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	log := passlog.New(true)
	for n := range 10_010 {
		log.Logger().Error(fmt.Errorf("%d", n), "x")
	}
	if got := log.All(); len(got) != 10_000 || log.LastError() != "10009" {
		t.Errorf("%d lines, and the last error is %s", len(got), log.LastError())
	}
}
