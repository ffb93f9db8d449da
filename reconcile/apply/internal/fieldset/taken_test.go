package fieldset_test

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

func TestTaken(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fields, intent, live string
		want                 bool
	}{
		"Same":          {`{"f:a":{},"f:l":{"v:1":{}}}`, `{a: 1, l: [1]}`, `{a: 1, l: [1]}`, true},
		"Normalised":    {`{"f:a":{}}`, `{a: 1}`, `{a: 2}`, true},
		"EmptiedList":   {`{"f:a":{}}`, `{a: 1, l: []}`, `{a: 1}`, false},
		"EmptyList":     {`{"f:a":{},"f:l":{}}`, `{a: 1, l: []}`, `{a: 1, l: []}`, true},
		"EmptyOfNobody": {`{"f:a":{}}`, `{a: 1, l: []}`, `{a: 1, l: []}`, true},
		"EmptiedObject": {`{"f:a":{}}`, `{a: 1, m: {}}`, `{a: 1}`, false},
		"EmptiedToNull": {`{"f:a":{},"f:m":{}}`, `{a: 1, m: {}}`, `{a: 1, m: null}`, false},
		"Nested":        {`{"f:m":{"f:a":{}}}`, `{m: {a: 1, l: []}}`, `{m: {a: 1}}`, false},
		"NotThere":      {`{"f:a":{},"f:b":{}}`, `{a: 1, b: {}}`, `{a: 1}`, false},
		"NestedEmpty":   {`{"f:m":{}}`, `{m: {l: []}}`, `{m: {}}`, false},
		"DefaultedKey":  {`{"f:l":{"k:{\"p\":1,\"q\":\"x\"}":{".":{},"f:p":{}}}}`, `{l: [{p: 1, m: []}]}`, `{l: [{p: 1, q: x}]}`, false},
		"Hollow":        {`{"f:a":{}}`, `{a: 1, m: {l: []}}`, `{a: 1, m: {l: []}}`, true},
		"HollowLost":    {`{"f:a":{}}`, `{a: 1, m: {l: []}}`, `{a: 1, m: {}}`, false},
		"HollowFilled":  {`{"f:a":{}}`, `{a: 1, m: {l: []}}`, `{a: 1, m: {l: [2]}}`, false},
		"EmptyOfOthers": {`{"f:m":{}}`, `{m: {}}`, `{m: {a: 1}}`, false},
		"NotOurs":       {`{"f:a":{}}`, `{a: 1, b: 2}`, `{a: 1, b: 2}`, false},
		"Atomic":        {`{"f:a":{}}`, `{a: [{b: []}]}`, `{a: [{}]}`, true},
		"ItemLost":      {`{"f:l":{"v:1":{}}}`, `{l: [1, 2]}`, `{l: [1, 2]}`, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := fieldset.Parse([]byte(tc.fields))
			if err != nil {
				t.Fatal(err)
			}
			if got := fieldset.Taken(fieldset.Schema{}, set, parse(t, tc.intent), parse(t, tc.live)); got != tc.want {
				t.Errorf("Taken = %v, want %v", got, tc.want)
			}
		})
	}
	affinity := below(t, podKind, nil, "spec.affinity")
	set, err := fieldset.Parse([]byte(`{"f:podAntiAffinity":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	if fieldset.Taken(affinity, set, parse(t, `{podAntiAffinity: {}}`), parse(t, `{}`)) {
		t.Error("an empty object behind a pointer was taken although it is not there")
	}
	if fieldset.Taken(fieldset.Schema{}, &fieldset.Set{}, parse(t, `{a: 1}`), parse(t, `{}`)) {
		t.Error("an apply after which nothing is ours was not taken as it is")
	}
}
