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

// Keys are the keys that a Secret must have, and where their values come from when they are missing.
type Keys map[string]Source

// Source makes the value of a key.
type Source func(random io.Reader) ([]byte, error)

// Literal is a value that is no secret, such as a user name.
func Literal(value string) Source {
	return func(io.Reader) ([]byte, error) { return []byte(value), nil }
}

// Random is n random bytes as text, in the alphabet of base64 for URLs (RFC 4648 section 5) with padding. 16 bytes
// are 24 characters. Less than 8 bytes is an error: it could be guessed.
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

// Fetch reads the Secret and returns its data with the missing keys filled in. A Secret that does not exist misses all keys; that
// is no error. Keys that it has besides are left out: others own them.
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

// fill returns the values of the keys: the stored one where there is one, even an empty one, else a new one made with random.
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

var errNoSource = errors.New("it has no source: want Literal or Random")

// Rules are the field rules for a Secret with these keys, given as the [Keys] or as the data that [Fetch] returned: each value is
// set where there is none, and stays as it is from then on, whatever a later pass has drawn; see [apply.CreateOnly].
func Rules[V any](keys map[string]V) apply.FieldRules {
	paths := make([]string, 0, len(keys))
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		paths = append(paths, fmt.Sprintf("data[%q]", name))
	}
	return apply.CreateOnly(paths...)
}
