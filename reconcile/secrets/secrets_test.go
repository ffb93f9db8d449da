package secrets_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/secrets"
)

func TestFill(t *testing.T) {
	t.Parallel()
	keys := secrets.Keys{"user": secrets.Literal("app"), "password": secrets.Random(16)}
	got, err := secrets.Fill(map[string][]byte{"user": []byte("kept"), "other": []byte("x")}, keys, strings.NewReader("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{"user": []byte("kept"), "password": []byte("MDEyMzQ1Njc4OWFiY2RlZg==")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if empty, err := secrets.Fill(map[string][]byte{"password": {}}, secrets.Keys{"password": secrets.Random(16)}, nil); err != nil || len(empty["password"]) != 0 {
		t.Errorf("an existing empty value was overwritten: %q, %v", empty, err)
	}
	for name, keys := range map[string]secrets.Keys{
		`secret key "a": unexpected EOF`:                {"a": secrets.Random(16)},
		`secret key "a": 4 random bytes can be guessed`: {"a": secrets.Random(4)},
		`secret key "a": no source`:                     {"a": nil},
	} {
		if _, err := secrets.Fill(nil, keys, strings.NewReader("short")); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("want %s, got %v", name, err)
		}
	}
}

// reader answers every read with the same Secret or error.
type reader struct {
	client.Reader
	data map[string][]byte
	err  error
}

func (r reader) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if secret, ok := into.(*corev1.Secret); ok {
		secret.Data = r.data
	}
	return r.err
}

func TestFetch(t *testing.T) {
	t.Parallel()
	keys := secrets.Keys{"password": secrets.Random(16)}
	stored := secrets.Fetch(t.Context(), reader{data: map[string][]byte{"password": []byte("p")}}, client.ObjectKey{}, keys)
	if stored.HasError() || string(stored.Value["password"]) != "p" {
		t.Errorf("stored: %+v", stored)
	}
	missing := reader{err: apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "x")}
	first := secrets.Fetch(t.Context(), missing, client.ObjectKey{}, keys)
	second := secrets.Fetch(t.Context(), missing, client.ObjectKey{}, keys)
	if first.HasError() || len(first.Value["password"]) != 24 || string(first.Value["password"]) == string(second.Value["password"]) {
		t.Errorf("two generated values: %q and %q, %v", first.Value, second.Value, first.Error)
	}
	broken := errors.New("no connection")
	if got := secrets.Fetch(t.Context(), reader{err: broken}, client.ObjectKey{}, keys); !errors.Is(got.Error, broken) || got.Value != nil {
		t.Errorf("a failed read: %+v", got)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	got := secrets.Rules(map[string][]byte{"b.c": nil, "a": nil})
	want := apply.FieldRules{{Path: `data["a"]`, Policy: apply.FieldCreateOnly}, {Path: `data["b.c"]`, Policy: apply.FieldCreateOnly}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, secrets.Rules(secrets.Keys{"a": nil, "b.c": secrets.Random(16)})); diff != "" {
		t.Errorf("rules of the keys (-want +got):\n%s", diff)
	}
}
