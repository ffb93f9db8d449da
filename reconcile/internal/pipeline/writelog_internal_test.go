package pipeline

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// TestWriteLogKeys checks that a log line has each key once, including the keys that controller-runtime adds for the owner.
func TestWriteLogKeys(t *testing.T) {
	t.Parallel()
	var lines []string
	logger := funcr.NewJSON(func(line string) { lines = append(lines, line) }, funcr.Options{}).WithValues(
		"controller", "website", "controllerGroup", "example.com", "controllerKind", "Website", "Website", "a/b", "object", "a/b",
		"namespace", "a", "name", "b", "reconcileID", "1")
	owner := apply.Decision{
		GVK: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Key: types.NamespacedName{Namespace: "a", Name: "child"},
		Verb: apply.VerbCreate, Reason: apply.ReasonDrift, Fields: []apply.FieldChange{{Path: ".data.x"}},
	}
	logWrites(logger, &apply.Result{Owner: &owner})
	if len(lines) != 1 {
		t.Fatalf("got %d lines, want 1: %s", len(lines), lines)
	}
	requireUniqueKeys(t, lines[0])
}

// requireUniqueKeys checks that no object of a JSON line repeats a key.
func requireUniqueKeys(t *testing.T, line string) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(line))
	var keys []map[string]bool // keys of the enclosing objects; nil for lists
	isKey := false
	for {
		token, err := decoder.Token()
		if err != nil {
			if len(keys) != 0 {
				t.Errorf("%v in %s", err, line)
			}
			return
		}
		switch token {
		case json.Delim('{'):
			keys, isKey = append(keys, map[string]bool{}), true
			continue
		case json.Delim('['):
			keys, isKey = append(keys, nil), false
			continue
		case json.Delim('}'), json.Delim(']'):
			keys = keys[:len(keys)-1]
			isKey = len(keys) > 0 && keys[len(keys)-1] != nil
			continue
		}
		inside := len(keys) > 0 && keys[len(keys)-1] != nil
		if key, ok := token.(string); inside && isKey && ok {
			if keys[len(keys)-1][key] {
				t.Errorf("the key %q occurs twice in %s", key, line)
			}
			keys[len(keys)-1][key] = true
		}
		isKey = inside && !isKey
	}
}
