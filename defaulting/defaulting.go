package defaulting

import (
	"encoding/json"
	"fmt"

	"github.com/reconcilekit/reconcilekit/internal/fingerprint"
	"github.com/reconcilekit/reconcilekit/internal/mergepatch"
	"github.com/reconcilekit/reconcilekit/internal/recent"
)

// Step fills in missing values. It must be a pure and idempotent function of its argument.
type Step[S any] func(spec *S)

// Effective runs the steps on spec in order and returns spec. Pass a copy.
func Effective[S any](spec *S, steps ...Step[S]) *S {
	for _, step := range steps {
		step(spec)
	}
	return spec
}

// Difference returns the JSON merge patch (RFC 7396) that turns the JSON form of before into that of after, with sorted keys; "{}" if
// they are equal. A changed list is replaced entirely. Both must marshal to JSON objects, and the JSON must depend only on their fields,
// because recent differences are cached, up to 1 MiB.
func Difference(before, after any) (string, error) {
	key, known := fingerprint.Of([2]any{before, after})
	if known {
		if text, found := differences.Get(key); found {
			return text, nil
		}
	}
	text, err := difference(before, after)
	if err == nil && known {
		differences.Put(key, text, len(text)+entrySize, maxRemembered)
	}
	return text, err
}

const (
	maxRemembered = 1 << 20
	entrySize     = 200 // estimated, in addition to the text
)

// A status contains the difference in every reconciliation.
var differences recent.Values[string] //nolint:gochecknoglobals // results of a function of its arguments alone

func difference(before, after any) (string, error) {
	from, err := object(before)
	if err != nil {
		return "", err
	}
	to, err := object(after)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(mergepatch.Diff(from, to))
	if err != nil {
		return "", fmt.Errorf("difference: %w", err)
	}
	return string(text), nil
}

// Merge applies a JSON merge patch (RFC 7396) to a JSON object and returns the result with sorted keys.
func Merge(document, mergePatch []byte) ([]byte, error) {
	var into, change map[string]any
	if err := json.Unmarshal(document, &into); err != nil {
		return nil, fmt.Errorf("merge: the document must be a JSON object: %w", err)
	}
	if err := json.Unmarshal(mergePatch, &change); err != nil {
		return nil, fmt.Errorf("merge: the patch must be a JSON object: %w", err)
	}
	return json.Marshal(mergepatch.Merge(into, change))
}

func object(value any) (map[string]any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("difference: %w", err)
	}
	var into map[string]any
	if err := json.Unmarshal(text, &into); err != nil {
		return nil, fmt.Errorf("difference: %T must marshal to a JSON object: %w", value, err)
	}
	return into, nil
}
