package reconciletest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/passlog"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
	"github.com/reconcilekit/reconcilekit/reconcile/record"
)

// Replay runs recorded passes (see the package reconcile/record) again with the controllers that the system sets up, without a
// cluster, and fails the test when one of them now sees, plans, reports or announces something else, with a diff, or reads
// what the recorded pass did not read. Of the system Setup, Scheme and the definitions count; it needs no Owners.
//
// A recording of a bug is replayed before the repair, to see that it is the same bug, and after it, where the diff is the
// repair.
func Replay(t testing.TB, system System, files ...string) {
	t.Helper()
	if len(files) == 0 {
		t.Fatal("replay: want at least one file with a recording")
	}
	stage, err := newStage(t.Context(), system)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := stage.replay(t.Context(), file); err != nil {
			t.Errorf("replay %s: %v", file, err)
		}
	}
}

// stage is a manager whose controllers replay. Controllers find its Replays by interface.
type stage struct {
	*run.TestManager
	replays map[string]func(ctx context.Context, r *record.Recording) (*record.Recording, error)
}

// Replays takes what replays the passes of a controller.
func (s *stage) Replays(name string, replay func(ctx context.Context, r *record.Recording) (*record.Recording, error)) {
	s.replays[name] = replay
}

// newStage sets the system up in a world where nothing happens.
func newStage(ctx context.Context, s System) (*stage, error) {
	s.Environment, s.Given, s.GivenYAML = nil, nil, ""
	if len(s.Owners) == 0 && s.Singleton == nil {
		s.Owners = []client.Object{nil} // not created
	}
	system, err := description.Prepare(s)
	if err != nil {
		return nil, err
	}
	w, err := world.New(ctx, system, description.TestNamespace)
	if err != nil {
		return nil, err
	}
	out := &stage{replays: map[string]func(context.Context, *record.Recording) (*record.Recording, error){}}
	out.TestManager = run.NewManager(w, view.New(w, system.Cache), transport.New(w), func(run.Event) {}, passlog.New(false))
	if err := system.Setup(out); err != nil {
		return nil, fmt.Errorf("system: Setup: %w", err)
	}
	return out, nil
}

// replay compares one recording with what comes of it now.
func (s *stage) replay(ctx context.Context, file string) error {
	want, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	recorded, err := record.Decode(bytes.NewReader(want))
	if err != nil {
		return err
	}
	replay := s.replays[recorded.Controller]
	if replay == nil {
		known := slices.Sorted(maps.Keys(s.replays))
		return fmt.Errorf("it is a pass of controller %q; Setup has set up: %s", recorded.Controller, strings.Join(known, ", "))
	}
	replayed, err := replay(ctx, recorded)
	if replayed == nil {
		return err
	}
	got, broken := replayed.Encode()
	if broken != nil {
		return broken
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		err = errors.Join(err, fmt.Errorf("the pass comes to something else (-recorded +replayed):\n%s", diff))
	}
	return err
}
