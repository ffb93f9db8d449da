package external_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/external"
)

type conn struct {
	name   string
	closed *[]string
}

func (c conn) Close() error {
	*c.closed = append(*c.closed, c.name)
	return nil
}

func TestSessions(t *testing.T) {
	t.Parallel()
	var opened, closed []string
	var sessions external.Sessions[conn]
	use := func(key, fingerprint string) (done func()) {
		t.Helper()
		_, done, err := sessions.Use(key, fingerprint, func() (conn, error) {
			opened = append(opened, key+fingerprint)
			return conn{key + fingerprint, &closed}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	want := func(reason string, wantOpened, wantClosed []string) {
		t.Helper()
		if diff := cmp.Diff([][]string{wantOpened, wantClosed}, [][]string{opened, closed}); diff != "" {
			t.Errorf("%s: opened and closed (-want +got):\n%s", reason, diff)
		}
		opened, closed = nil, nil
	}
	use("a", "1")()
	want("on the first use", []string{"a1"}, nil)
	busy, second := use("a", "1"), use("a", "1")
	want("the same settings", nil, nil)
	use("a", "2")()
	want("an open session stays until its users are done", []string{"a2"}, nil)
	busy()
	busy()
	want("an open session stays until the last user is done", nil, nil)
	second()
	want("the last user is done", nil, []string{"a1"})
	use("a", "3")()
	want("the old session has no user", []string{"a3"}, []string{"a2"})
	if err := sessions.Drop("a"); err != nil {
		t.Error(err)
	}
	want("dropped", nil, []string{"a3"})

	if _, _, err := sessions.Use("b", "1", func() (conn, error) { return conn{}, io.ErrUnexpectedEOF }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want the error of opening it", err)
	}
	use("b", "1")()
	want("a failed open is retried", []string{"b1"}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sessions.Start(ctx); err != nil {
		t.Error(err)
	}
	want("the manager stops", nil, []string{"b1"})
	if _, _, err := sessions.Use("b", "1", nil); err == nil {
		t.Error("want an error after the end")
	}
}
