package mergepatch_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/internal/mergepatch"
)

func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDiff(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ from, to, want string }{
		"Same":          {`{"a":1,"b":{"c":[1]}}`, `{"b":{"c":[1]},"a":1}`, `{}`},
		"Added":         {`{}`, `{"b":{"c":1}}`, `{"b":{"c":1}}`},
		"Nested":        {`{"b":{"c":1,"d":2}}`, `{"b":{"c":1,"d":3}}`, `{"b":{"d":3}}`},
		"Removed":       {`{"a":1,"b":{"c":1}}`, `{"b":{}}`, `{"a":null,"b":{"c":null}}`},
		"List":          {`{"a":[1,2]}`, `{"a":[1]}`, `{"a":[1]}`},
		"OtherType":     {`{"a":{"b":1}}`, `{"a":1}`, `{"a":1}`},
		"NullIsAbsent":  {`{}`, `{"a":null}`, `{}`},
		"NullOfPresent": {`{"a":1}`, `{"a":null}`, `{"a":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := mergepatch.Diff(decode(t, test.from), decode(t, test.to))
			if diff := cmp.Diff(decode(t, test.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func ExampleDiff() {
	from := map[string]any{"phase": "Pending", "count": 1}
	to := map[string]any{"phase": "Running"}
	patch := mergepatch.Diff(from, to)
	fmt.Println(patch)
	fmt.Println(mergepatch.Merge(from, patch))
	// Output:
	// map[count:<nil> phase:Running]
	// map[phase:Running]
}

// FuzzMerge checks that merging the difference into the first value gives the second, except for nulls, which a merge
// patch cannot set.
func FuzzMerge(f *testing.F) {
	f.Add(`{"a":1,"b":{"c":[1]}}`, `{"b":{"c":[2],"d":{}}}`)
	f.Fuzz(func(t *testing.T, before, after string) {
		var from, to map[string]any
		if json.Unmarshal([]byte(before), &from) != nil || json.Unmarshal([]byte(after), &to) != nil ||
			from == nil || to == nil || nulls(to) {
			return
		}
		patch := mergepatch.Diff(from, to)
		if diff := cmp.Diff(to, mergepatch.Merge(from, patch)); diff != "" {
			t.Errorf("%s to %s by %v (-want +got):\n%s", before, after, patch, diff)
		}
	})
}

func nulls(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		for _, nested := range v {
			if nulls(nested) {
				return true
			}
		}
	}
	return false // lists are replaced as they are
}
