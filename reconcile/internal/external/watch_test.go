package external_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/external"
)

// watched is a server whose event stream fails to open twice, breaks once, and then stays open.
type watched struct {
	*server
	attempts int
}

func (w *watched) Watch(ctx context.Context, opened func(), changed func(key string)) error {
	w.attempts++
	switch w.attempts {
	case 1:
		panic("a mistake of the author")
	case 2:
		return errors.New("refused")
	}
	time.Sleep(time.Second) // the handshake takes a second
	opened()
	changed("shop")
	if w.attempts == 3 {
		return errors.New("broken")
	}
	<-ctx.Done()
	return nil
}

// TestStream checks that owners are reconciled once after the stream opened, because earlier changes cause no event. Until then,
// an unavailable system is not called.
func TestStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine, err := external.NewEngine(external.Config{
			Kinds:        []external.Declared{external.New("Database", &watched{server: &server{}}, external.Options{Rewatch: 3 * time.Second})},
			FieldManager: "shop", Domain: "example.com", Finalizer: "example.com/shop",
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		began := time.Now()
		var got []string
		engine.Watch(ctx, func(kind schema.GroupVersionKind, key string) {
			got = append(got, time.Since(began).String()+" "+kind.Kind+" "+key)
		})
		want := []string{"7s Database ", "7s Database shop", "11s Database ", "11s Database shop"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
