package compare_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/compare"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// differences are the paths at which live is not what intent wants.
func differences(fields string, intent, live map[string]any) ([]string, error) {
	set, err := managedfields.Parse([]byte(fields))
	if err != nil {
		return nil, err
	}
	var out []string
	all := compare.Comparison{Report: func(d compare.Difference) { out = append(out, d.Path) }}
	all.Object(set, intent, live)
	first := compare.Comparison{}
	first.Object(set, intent, live)
	if first.Different() != (len(out) > 0) {
		out = append(out, "the two ways of comparing disagree")
	}
	return out, nil
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	const ports = `{"f:ports":{"k:{\"port\":53,\"protocol\":\"TCP\"}":{".":{},"f:port":{}},"k:{\"port\":53,\"protocol\":\"UDP\"}":{".":{},"f:port":{},"f:protocol":{}}}}`
	cases := map[string]struct {
		fields, intent, live string
		want                 []string
	}{
		"Same":             {`{"f:a":{},"f:m":{"f:b":{}}}`, `{a: 1, m: {b: x}}`, `{a: 1, m: {b: x, theirs: y}, status: {}}`, nil},
		"Value":            {`{"f:a":{}}`, `{a: 1}`, `{a: 2}`, []string{".a"}},
		"Gone":             {`{"f:a":{}}`, `{a: 1}`, `{}`, []string{".a"}},
		"New":              {`{"f:a":{}}`, `{a: 1, b: 2}`, `{a: 1}`, []string{".b"}},
		"NotOursYet":       {`{"f:a":{}}`, `{a: 1, b: 2}`, `{a: 1, b: 2}`, []string{".b"}},
		"NoLongerPlanned":  {`{"f:a":{},"f:b":{}}`, `{a: 1}`, `{a: 1, b: 2}`, []string{".b"}},
		"NestedNew":        {`{"f:m":{"f:a":{}}}`, `{m: {a: 1, b: {c: 2}}}`, `{m: {a: 1, b: {d: 1}}}`, []string{".m.b.c"}},
		"Defaulted":        {ports, `{ports: [{port: 53}, {port: 53, protocol: UDP}]}`, `{ports: [{port: 53, protocol: TCP, nodePort: 3}, {port: 53, protocol: UDP}]}`, nil},
		"Order":            {ports, `{ports: [{port: 53, protocol: UDP}, {port: 53}]}`, `{ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP}]}`, []string{".ports[1]"}},
		"ForeignItem":      {`{"f:l":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}`, `{l: [{name: a}]}`, `{l: [{name: z, v: 1}, {name: a}]}`, nil},
		"ItemGone":         {`{"f:l":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}`, `{l: [{name: a}]}`, `{l: []}`, []string{".l[0]"}},
		"ItemSurplus":      {`{"f:l":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}},"k:{\"name\":\"b\"}":{".":{},"f:name":{}}}}`, `{l: [{name: a}]}`, `{l: [{name: a}, {name: b}]}`, []string{".l[1]"}},
		"ItemRenamed":      {`{"f:l":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}`, `{l: [{name: b}]}`, `{l: [{name: a}]}`, []string{".l[0]", ".l[0]"}},
		"SetOfValues":      {`{"f:s":{"v:\"a\"":{},"v:\"b\"":{}}}`, `{s: [b, a]}`, `{s: [a, theirs, b]}`, nil},
		"AtomicList":       {`{"f:l":{}}`, `{l: [a, b]}`, `{l: [b, a]}`, []string{".l"}},
		"AtomicDefaults":   {`{"f:fieldRef":{}}`, `{fieldRef: {fieldPath: x}}`, `{fieldRef: {apiVersion: v1, fieldPath: x}}`, nil},
		"AtomicSurplus":    {`{"f:selector":{}}`, `{selector: {a: b}}`, `{selector: {a: b, c: d}}`, []string{".selector"}},
		"AtomicEmptied":    {`{"f:selector":{}}`, `{selector: {}}`, `{selector: {matchLabels: {a: b}}}`, []string{".selector"}},
		"EmptyValue":       {`{"f:value":{}}`, `{value: ""}`, `{}`, nil},
		"EmptyListUnowned": {`{"f:a":{}}`, `{a: 1, l: []}`, `{a: 1}`, nil},
		"EmptyListTheirs":  {`{"f:a":{}}`, `{a: 1, l: []}`, `{a: 1, l: [x]}`, []string{".l"}},
		"Quantity":         {`{"f:requests":{"f:cpu":{},"f:memory":{}}}`, `{requests: {cpu: "1000m", memory: 1Ki}}`, `{requests: {cpu: "1", memory: 1Ki}}`, nil},
		"NotAQuantity":     {`{"f:labels":{"f:cpu":{}}}`, `{labels: {cpu: "1000m"}}`, `{labels: {cpu: "1"}}`, []string{".labels.cpu"}},
		"QuantityValue":    {`{"f:requests":{"f:cpu":{}}}`, `{requests: {cpu: "2"}}`, `{requests: {cpu: "1"}}`, []string{".requests.cpu"}},
		"Kind":             {`{"f:a":{"f:b":{}}}`, `{a: {b: 1}}`, `{a: x}`, []string{".a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := differences(tc.fields, parse(t, tc.intent), parse(t, tc.live))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Differences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProjection(t *testing.T) {
	t.Parallel()
	const fields = `{"f:a":{},"f:e":{},"f:l":{"k:{\"k\":\"xx\"}":{".":{},"f:k":{},"f:v":{}},"k:{\"k\":\"yy\"}":{".":{},"f:k":{}}}}`
	const intent = `{a: 1, e: {}, l: [{k: xx, v: 1}, {k: yy}]}`
	const base = `{a: 1, e: {}, l: [{k: xx, v: 1}, {k: yy}]}`
	h := compare.Hasher{Hasher: content.NewHasher(content.NewEncoder())}
	of := func(live string) uint64 {
		set, err := managedfields.Parse([]byte(fields))
		if err != nil {
			t.Fatal(err)
		}
		return h.Projection(set, parse(t, intent), parse(t, live))
	}
	for name, live := range map[string]string{
		"ForeignField": `{a: 1, z: 1, e: {}, l: [{k: xx, v: 1}, {k: yy}]}`,
		"ForeignItem":  `{a: 1, e: {}, l: [{k: xx, v: 1}, {k: ww}, {k: yy, more: 1}]}`,
		"IntoEmptyMap": `{a: 1, e: {theirs: 1}, l: [{k: xx, v: 1}, {k: yy}]}`,
	} {
		if of(live) != of(base) {
			t.Errorf("%s: the projection changed", name)
		}
	}
	for name, live := range map[string]string{
		"Value": `{a: 2, e: {}, l: [{k: xx, v: 1}, {k: yy}]}`,
		"Gone":  `{e: {}, l: [{k: xx, v: 1}, {k: yy}]}`,
		"Item":  `{a: 1, e: {}, l: [{k: xx, v: 2}, {k: yy}]}`,
		"Order": `{a: 1, e: {}, l: [{k: yy}, {k: xx, v: 1}]}`,
		"Lost":  `{a: 1, e: {}, l: [{k: xx, v: 1}]}`,
	} {
		if of(live) == of(base) {
			t.Errorf("%s: the projection did not change", name)
		}
	}
}

// FuzzEqualValues: a value equals itself, and nothing panics.
func FuzzEqualValues(f *testing.F) {
	f.Add("requests", []byte(`{"cpu":"1000m"}`), []byte(`{"cpu":"1"}`))
	f.Add("rules", []byte(`[{}]`), []byte(`[{"matches":[]}]`))
	f.Fuzz(func(t *testing.T, field string, a, b []byte) {
		var x, y any
		if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
			return
		}
		if !compare.EqualValues(field, x, x) {
			t.Errorf("%s does not equal itself", a)
		}
		compare.EqualValues(field, x, y)
	})
}
