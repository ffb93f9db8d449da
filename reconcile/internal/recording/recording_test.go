package recording_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/recording"
)

const smallest = `{"version":1,"controller":"shop","request":{"name":"cart"},"now":"2026-01-02T03:04:05Z",` +
	`"owner":{"metadata":{"name":"cart"}},"reads":null,"plan":{},"outcome":{}}`

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "unexpected end of JSON input",
		"[]":                       "cannot unmarshal array",
		"{}":                       "version is 0, want 1: record the pass again",
		`{"version":2}`:            "version is 2, want 1",
		`{"version":1}`:            "controller and request.name are required",
		`{"version":1,"extra":{}}`: `unknown field "extra"`,
		strings.Replace(smallest, "2026-01-02T03:04:05Z", "yesterday", 1): `want a time such as`,
		strings.Replace(smallest, `{}}`, `{"requeueAfter":"soon"}}`, 1):   `invalid duration "soon"`,
	} {
		if _, err := recording.Decode(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want an error with %q, got %v", text, want, err)
		}
	}
	if _, err := recording.Decode(strings.NewReader(smallest)); err != nil {
		t.Error(err)
	}
}

// FuzzDecode: whatever can be read keeps its meaning when it is written again, and replays without a panic.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(smallest))
	f.Add([]byte(strings.Replace(smallest, `"reads":null`, `"reads":[{"verb":"list","kind":"v1/ConfigMap","labels":"source=yes",`+
		`"error":{"message":"m","joined":[{"message":"n","status":{"code":404,"reason":"NotFound"}}]}}]`, 1)))
	f.Add([]byte(strings.Replace(smallest, `"plan":{}`, `"plan":{"children":[{"kind":"v1/Secret","object":{"data":{"a":"%"}}}]},`+
		`"applied":{"objects":[{"version":"v1","kind":"Pod","name":"p","outcome":"Failed","error":{"message":"e"}}]}`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := recording.Decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		once, err := r.Encode()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := recording.Decode(bytes.NewReader(once))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, once)
		}
		twice, err := again.Encode()
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("written twice differs (%v):\n%s\n%s", err, once, twice)
		}
		out, err := recording.Replay(t.Context(), config(shop{}, nil), again, replaying())
		if out == nil && err == nil {
			t.Fatal("a replay has neither a recording nor an error")
		}
	})
}
