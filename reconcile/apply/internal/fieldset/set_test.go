package fieldset_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// FuzzFieldSet checks that a set that structured-merge-diff parses has the same members
// here, and that no input makes the parser panic.
func FuzzFieldSet(f *testing.F) {
	f.Add([]byte(`{"f:a":{},"f:m":{".":{},"f:\"q\"":{}},"f:l":{"k:{\"n\":\"x\",\"p\":1}":{".":{}},"v:\"s\"":{},"v:1":{}}}`))
	f.Add([]byte(`{ "f:a" : { } }`))
	f.Fuzz(func(t *testing.T, data []byte) {
		parsed, err := fieldset.Parse(data)
		if err != nil || !json.Valid(data) || bytes.Contains(data, []byte(`"i:`)) {
			return
		}
		var set fieldpath.Set
		if set.FromJSON(bytes.NewReader(data)) != nil {
			return
		}
		// Repeated keys are one member in structured-merge-diff and two here.
		if got, want := count(parsed), set.Size(); got < want {
			t.Errorf("%s: %d members, want at least %d", data, got, want)
		}
	})
}

func count(s *fieldset.Set) int {
	n := 0
	if s.Member {
		n++
	}
	for i := range s.Fields {
		n += count(s.Fields[i].Set)
	}
	for i := range s.Items {
		n += count(s.Items[i].Set)
	}
	return n
}
