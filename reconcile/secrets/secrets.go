package secrets

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Keys maps the required keys of a Secret to the sources of missing values.
type Keys map[string]Source

// Source generates the value of a key.
type Source func(random io.Reader) ([]byte, error)

// Literal returns a source of a value that is not secret, such as a user name.
func Literal(value string) Source {
	return func(io.Reader) ([]byte, error) { return []byte(value), nil }
}

// Random returns a source of n random bytes, encoded as base64 for URLs (RFC 4648 section 5) with padding. 16 bytes are 24 characters.
// Less than 8 bytes is an error, because the value could be guessed.
func Random(n int) Source {
	const least = 8
	return func(random io.Reader) ([]byte, error) {
		if n < least {
			return nil, fmt.Errorf("%d random bytes can be guessed: want at least %d", n, least)
		}
		drawn := make([]byte, n)
		if _, err := io.ReadFull(random, drawn); err != nil {
			return nil, err
		}
		return []byte(base64.URLEncoding.EncodeToString(drawn)), nil
	}
}

// Fetch reads the Secret and returns its data with missing keys filled in. A Secret that does not exist is not an error: all keys are
// missing. Other keys of the Secret are omitted, because other writers own them.
func Fetch(ctx context.Context, r reconcile.Reader, key client.ObjectKey, keys Keys) reconcile.FetchResult[map[string][]byte] {
	found := reconcile.Fetch(ctx, r, key, &corev1.Secret{})
	if found.HasError() && !found.IsNotFound() {
		return reconcile.FetchResult[map[string][]byte]{Error: found.Error}
	}
	var stored map[string][]byte
	if found.OK() {
		stored = found.Value.Data
	}
	data, err := fill(stored, keys, rand.Reader)
	return reconcile.FetchResult[map[string][]byte]{Value: data, Error: err}
}

// fill returns the values of the keys: the stored one if it exists, even if empty, else a new one generated with random.
func fill(stored map[string][]byte, keys Keys, random io.Reader) (map[string][]byte, error) {
	data := make(map[string][]byte, len(keys))
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if value, exists := stored[name]; exists {
			data[name] = value
			continue
		}
		if keys[name] == nil {
			return nil, fmt.Errorf("secret key %q: %w", name, errNoSource)
		}
		value, err := keys[name](random)
		if err != nil {
			return nil, fmt.Errorf("secret key %q: %w", name, err)
		}
		data[name] = value
	}
	return data, nil
}

var errNoSource = errors.New("no source: want Literal or Random")

// Rules returns the field rules for a Secret with these keys, given as the [Keys] or as the data that [Fetch] returned: each value is set
// if it is missing and never changed afterwards; see [apply.CreateOnly].
func Rules[V any](keys map[string]V) apply.FieldRules {
	paths := make([]string, 0, len(keys))
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		paths = append(paths, fmt.Sprintf("data[%q]", name))
	}
	return apply.CreateOnly(paths...)
}
