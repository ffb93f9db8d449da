package fieldset_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// differences returns the paths at which live differs from the intent.
func differences(s fieldset.Schema, fields string, intent, live map[string]any) ([]string, error) {
	set, err := fieldset.Parse([]byte(fields))
	if err != nil {
		return nil, err
	}
	var out []string
	all := fieldset.Comparison{Schema: s, Report: func(d fieldset.Difference) { out = append(out, d.Path) }}
	all.Object(set, intent, live)
	first := fieldset.Comparison{Schema: s}
	first.Object(set, intent, live)
	if first.Different() != (len(out) > 0) {
		out = append(out, "the two ways of comparing disagree")
	}
	return out, nil
}

// below returns the schema at the path, of an unstructured object or of the
// type of the sample.
func below(t *testing.T, gvk schema.GroupVersionKind, sample any, path string) fieldset.Schema {
	t.Helper()
	var goType reflect.Type
	if sample != nil {
		goType = reflect.TypeOf(sample)
	}
	p, err := fieldset.ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	return fieldset.SchemaOf(gvk, goType, nil).Below(p)
}

var (
	serviceKind    = corev1.SchemeGroupVersion.WithKind("Service")
	podKind        = corev1.SchemeGroupVersion.WithKind("Pod")
	ruleKind       = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Rule"}
	routeKind      = schema.GroupVersionKind{Group: gatewayv1.GroupName, Version: "v1", Kind: "HTTPRoute"}
	anyContainer   = "spec.containers[name=x]"
	anyEnvironment = anyContainer + ".env[name=x]"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	none := fieldset.Schema{}
	service := below(t, serviceKind, nil, "spec")
	env := below(t, podKind, nil, anyEnvironment+".valueFrom")
	resources := below(t, podKind, corev1.Pod{}, anyContainer+".resources")
	const ports = `{"f:ports":{"k:{\"port\":53,\"protocol\":\"TCP\"}":{".":{},"f:port":{}},"k:{\"port\":53,\"protocol\":\"UDP\"}":{".":{},"f:port":{},"f:protocol":{}}}}`
	cases := map[string]struct {
		schema               fieldset.Schema
		fields, intent, live string
		want                 []string
	}{
		"Same":                   {none, `{"f:a":{},"f:m":{"f:b":{}}}`, `{a: 1, m: {b: x}}`, `{a: 1, m: {b: x, theirs: y}, status: {}}`, nil},
		"Value":                  {none, `{"f:a":{}}`, `{a: 1}`, `{a: 2}`, []string{".a"}},
		"Gone":                   {none, `{"f:a":{}}`, `{a: 1}`, `{}`, []string{".a"}},
		"New":                    {none, `{"f:a":{}}`, `{a: 1, b: 2}`, `{a: 1}`, []string{".b"}},
		"NotOursYet":             {none, `{"f:a":{}}`, `{a: 1, b: 2}`, `{a: 1, b: 2}`, []string{".b"}},
		"NoLongerPlanned":        {none, `{"f:a":{},"f:b":{}}`, `{a: 1}`, `{a: 1, b: 2}`, []string{".b"}},
		"NestedNew":              {none, `{"f:m":{"f:a":{}}}`, `{m: {a: 1, b: {c: 2}}}`, `{m: {a: 1, b: {d: 1}}}`, []string{".m.b.c"}},
		"Defaulted":              {service, ports, `{ports: [{port: 53}, {port: 53, protocol: UDP}]}`, `{ports: [{port: 53, protocol: TCP, nodePort: 3}, {port: 53, protocol: UDP}]}`, nil},
		"Order":                  {service, ports, `{ports: [{port: 53, protocol: UDP}, {port: 53}]}`, `{ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP}]}`, []string{".ports[1]"}},
		"ForeignItem":            {none, `{"f:l":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}`, `{l: [{name: a}]}`, `{l: [{name: z, v: 1}, {name: a}]}`, nil},
		"ItemGone":               {none, `{"f:l":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}`, `{l: [{name: a}]}`, `{l: []}`, []string{".l[0]"}},
		"ItemSurplus":            {none, `{"f:l":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}},"k:{\"name\":\"b\"}":{".":{},"f:name":{}}}}`, `{l: [{name: a}]}`, `{l: [{name: a}, {name: b}]}`, []string{".l[1]"}},
		"ItemRenamed":            {none, `{"f:l":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}`, `{l: [{name: b}]}`, `{l: [{name: a}]}`, []string{".l[0]", ".l[0]"}},
		"SetOfValues":            {none, `{"f:s":{"v:\"a\"":{},"v:\"b\"":{}}}`, `{s: [a, b]}`, `{s: [a, theirs, b]}`, nil},
		"ObjectItself":           {none, `{"f:m":{".":{},"f:a":{}}}`, `{m: {a: 1}}`, `{m: {a: 1}}`, []string{".m"}},
		"SetReordered":           {none, `{"f:s":{"v:\"a\"":{},"v:\"b\"":{}}}`, `{s: [b, a]}`, `{s: [a, theirs, b]}`, []string{".s[1]"}},
		"AtomicList":             {none, `{"f:l":{}}`, `{l: [a, b]}`, `{l: [b, a]}`, []string{".l"}},
		"AtomicDefaults":         {env, `{"f:fieldRef":{}}`, `{fieldRef: {fieldPath: x}}`, `{fieldRef: {apiVersion: v1, fieldPath: x}}`, nil},
		"AtomicDefaultsOfOthers": {none, `{"f:fieldRef":{}}`, `{fieldRef: {fieldPath: x}}`, `{fieldRef: {apiVersion: v1, fieldPath: x}}`, []string{".fieldRef"}},
		"AtomicSurplus":          {none, `{"f:selector":{}}`, `{selector: {a: b}}`, `{selector: {a: b, c: d}}`, []string{".selector"}},
		"AtomicEmptied":          {none, `{"f:selector":{}}`, `{selector: {}}`, `{selector: {matchLabels: {a: b}}}`, []string{".selector"}},
		"EmptyValue":             {below(t, podKind, nil, anyEnvironment), `{"f:value":{}}`, `{value: ""}`, `{}`, nil},
		"EmptyValueOfOthers":     {none, `{"f:value":{}}`, `{value: ""}`, `{}`, []string{".value"}},
		"EmptyListUnowned":       {none, `{"f:a":{}}`, `{a: 1, l: []}`, `{a: 1}`, []string{".l"}},
		"EmptyListOfItems":       {service, `{"f:type":{}}`, `{type: x, ports: []}`, `{type: x}`, nil},
		"EmptyListTheirs":        {none, `{"f:a":{}}`, `{a: 1, l: []}`, `{a: 1, l: [x]}`, []string{".l"}},
		"Quantity":               {resources, `{"f:requests":{"f:cpu":{},"f:memory":{}}}`, `{requests: {cpu: "1000m", memory: 1Ki}}`, `{requests: {cpu: "1", memory: 1Ki}}`, nil},
		"QuantityOfOthers":       {none, `{"f:requests":{"f:cpu":{}}}`, `{requests: {cpu: "1000m"}}`, `{requests: {cpu: "1"}}`, []string{".requests.cpu"}},
		"NotAQuantity":           {none, `{"f:labels":{"f:cpu":{}}}`, `{labels: {cpu: "1000m"}}`, `{labels: {cpu: "1"}}`, []string{".labels.cpu"}},
		"QuantityValue":          {none, `{"f:requests":{"f:cpu":{}}}`, `{requests: {cpu: "2"}}`, `{requests: {cpu: "1"}}`, []string{".requests.cpu"}},
		"Kind":                   {none, `{"f:a":{"f:b":{}}}`, `{a: {b: 1}}`, `{a: x}`, []string{".a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := differences(tc.schema, tc.fields, parse(t, tc.intent), parse(t, tc.live))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Differences (-want +got):\n%s", diff)
			}
		})
	}
}

// Without a managedFields entry, all planned fields differ.
func TestDifferencesWhereNothingIsOurs(t *testing.T) {
	t.Parallel()
	var got []string
	c := fieldset.Comparison{Report: func(d fieldset.Difference) { got = append(got, d.Path) }}
	c.Object(nil, map[string]any{"a": "x", "b": map[string]any{"c": "y"}}, map[string]any{"a": "x"})
	if diff := cmp.Diff([]string{".a", ".b"}, got); diff != "" {
		t.Errorf("Differences (-want +got):\n%s", diff)
	}
}

func TestProjection(t *testing.T) {
	t.Parallel()
	const fields = `{"f:a":{},"f:e":{},"f:l":{"k:{\"k\":\"xx\"}":{".":{},"f:k":{},"f:v":{}},"k:{\"k\":\"yy\"}":{".":{},"f:k":{}}}}`
	const intent = `{a: 1, e: {}, n: {s: []}, l: [{k: xx, v: 1}, {k: yy}]}`
	const base = `{a: 1, e: {}, n: {s: []}, l: [{k: xx, v: 1}, {k: yy}]}`
	h := fieldset.Hasher{Hasher: content.NewHasher(content.NewEncoder())}
	in := fieldset.Schema{}
	of := func(live string) uint64 {
		set, err := fieldset.Parse([]byte(fields))
		if err != nil {
			t.Fatal(err)
		}
		return h.Projection(in, set, parse(t, intent), parse(t, live))
	}
	for name, live := range map[string]string{
		"ForeignField": `{a: 1, z: 1, e: {}, n: {s: []}, l: [{k: xx, v: 1}, {k: yy}]}`,
		"ForeignItem":  `{a: 1, e: {}, n: {s: []}, l: [{k: xx, v: 1}, {k: ww}, {k: yy, more: 1}]}`,
	} {
		if of(live) != of(base) {
			t.Errorf("%s: the projection changed", name)
		}
	}
	const intoEmptyMap = `{a: 1, e: {theirs: 1}, n: {s: []}, l: [{k: xx, v: 1}, {k: yy}]}`
	if of(intoEmptyMap) == of(base) {
		t.Error("the projection did not change, although nobody knows how the object is owned")
	}
	in = fieldset.SchemaOf(podKind, nil, nil)
	if of(intoEmptyMap) != of(base) {
		t.Error("the projection changed in a kind of Kubernetes")
	}
	in = fieldset.Schema{}
	for name, live := range map[string]string{
		"Value":  `{a: 2, e: {}, n: {s: []}, l: [{k: xx, v: 1}, {k: yy}]}`,
		"Gone":   `{e: {}, n: {s: []}, l: [{k: xx, v: 1}, {k: yy}]}`,
		"Item":   `{a: 1, e: {}, n: {s: []}, l: [{k: xx, v: 2}, {k: yy}]}`,
		"Order":  `{a: 1, e: {}, n: {s: []}, l: [{k: yy}, {k: xx, v: 1}]}`,
		"Empty":  `{a: 1, n: {s: []}, l: [{k: xx, v: 1}, {k: yy}]}`,
		"Hollow": `{a: 1, e: {}, n: {}, l: [{k: xx, v: 1}, {k: yy}]}`,
		"Lost":   `{a: 1, e: {}, n: {s: []}, l: [{k: xx, v: 1}]}`,
	} {
		if of(live) == of(base) {
			t.Errorf("%s: the projection did not change", name)
		}
	}
}

// TestProjectionOfWhatHoldsNothing checks objects and lists that are
// empty or missing.
func TestProjectionOfWhatHoldsNothing(t *testing.T) {
	t.Parallel()
	h := fieldset.Hasher{Hasher: content.NewHasher(content.NewEncoder())}
	for name, tc := range map[string]struct{ fields, intent, before, after string }{
		"ObjectAroundAnEmptyList": {`{"f:a":{"f:b":{"f:l":{}}}}`, `{a: {b: {l: []}}}`, `{a: {b: {}}}`, `{a: {}}`},
		"ListInAnItemWithADefaultKey": {
			`{"f:l":{"k:{\"k\":\"xx\",\"p\":\"TCP\"}":{".":{},"f:k":{}}}}`, `{l: [{k: xx, s: []}]}`,
			`{l: [{k: xx, p: TCP, s: []}]}`, `{l: [{k: xx, p: TCP}]}`,
		},
	} {
		set, err := fieldset.Parse([]byte(tc.fields))
		if err != nil {
			t.Fatal(err)
		}
		intent := parse(t, tc.intent)
		if h.Projection(fieldset.Schema{}, set, intent, parse(t, tc.before)) == h.Projection(fieldset.Schema{}, set, intent, parse(t, tc.after)) {
			t.Errorf("%s: %s and %s have one projection", name, tc.before, tc.after)
		}
	}
}

// Other managers matter only for fields of an object that is planned empty.
func TestProjectionOfWhatOthersPutIn(t *testing.T) {
	t.Parallel()
	set, err := fieldset.Parse([]byte(`{"f:spec":{"f:m":{},"f:a":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	h := fieldset.Hasher{Hasher: content.NewHasher(content.NewEncoder())}
	projection := func(intent, live string, others uint64) uint64 {
		return h.ProjectionOf(fieldset.Subject{
			Set: set, Intent: parse(t, intent), Live: parse(t, live), Others: func() uint64 { return others },
		})
	}
	for live, counts := range map[string]bool{
		`{spec: {m: {theirs: 1}, a: 1}}`:  true,
		`{spec: {m: {}, a: 1}}`:           false,
		`{spec: {a: {theirs: 1}, m: {}}}`: false,
	} {
		const intent = `{spec: {m: {}, a: 1}}`
		if got := projection(intent, live, 1) != projection(intent, live, 2); got != counts {
			t.Errorf("%s: others count %v, want %v", live, got, counts)
		}
	}
}

func TestShape(t *testing.T) {
	t.Parallel()
	h := fieldset.Hasher{Hasher: content.NewHasher(content.NewEncoder())}
	service := fieldset.SchemaOf(schema.GroupVersionKind{Version: "v1", Kind: "Service"}, nil, nil)
	const intent = `{metadata: {labels: {a: b}}, spec: {selector: {app: x}, type: ClusterIP}}`
	for name, tc := range map[string]struct {
		schema        fieldset.Schema
		before, after string
		same          bool
	}{
		"OthersLabel":      {service, `{metadata: {labels: {a: b}}}`, `{metadata: {labels: {a: b, c: d}}}`, true},
		"OthersField":      {service, `{spec: {selector: {app: x}}}`, `{spec: {selector: {app: x}, clusterIP: None}}`, true},
		"IntoWhatIsWhole":  {service, `{spec: {selector: {app: x}}}`, `{spec: {selector: {app: x, b: c}}}`, false},
		"IntoWhatIsNobody": {fieldset.Schema{}, `{spec: {selector: {app: x}}}`, `{spec: {selector: {app: x, b: c}}}`, false},
		"Value":            {service, `{spec: {type: ClusterIP}}`, `{spec: {type: NodePort}}`, false},
	} {
		before, after := h.Shape(tc.schema, parse(t, intent), parse(t, tc.before)), h.Shape(tc.schema, parse(t, intent), parse(t, tc.after))
		if (before == after) != tc.same {
			t.Errorf("%s: one shape: %v, want %v", name, before == after, tc.same)
		}
	}
}

// own is the Go type of a custom kind.
type own struct {
	Spec struct {
		Items   []item            `json:"items,omitempty"`
		Names   []string          `json:"names,omitempty"`
		Labels  map[string]string `json:"labels,omitempty"`
		Allowed bool              `json:"allowed,omitempty"`
	} `json:"spec"`
}

type item struct {
	Name string `json:"name"`
}

func TestEqualValues(t *testing.T) {
	t.Parallel()
	none := fieldset.Schema{}
	ofEnv := below(t, podKind, nil, anyEnvironment)
	toleration := below(t, podKind, nil, "spec.tolerations")
	limits := below(t, podKind, nil, anyContainer+".resources.limits")
	port := below(t, serviceKind, nil, "spec.ports[port=1]")
	rules := below(t, routeKind, gatewayv1.HTTPRoute{}, "spec.rules")
	cases := map[string]struct {
		schema       fieldset.Schema
		intent, live string
		want         bool
	}{
		"EnvironmentIsNoQuantity": {ofEnv, `{name: V, value: "1.0"}`, `{name: V, value: "1"}`, false},
		"EnvironmentEmpty":        {ofEnv, `{name: V, value: ""}`, `{name: V}`, true},
		"ZeroBehindPointer":       {toleration, `[{key: k, tolerationSeconds: 0}]`, `[{key: k}]`, false},
		"TolerationValue":         {toleration, `[{key: k, value: "1.0"}]`, `[{key: k, value: "1"}]`, false},
		"Quantity":                {limits, `{cpu: "0.5", memory: 1024Mi}`, `{cpu: 500m, memory: 1Gi}`, true},
		"QuantityAsNumber":        {limits, `{cpu: 2}`, `{cpu: "2"}`, true},
		"OtherQuantity":           {limits, `{cpu: "0.5"}`, `{cpu: "5"}`, false},
		"OtherFormat":             {limits, `{memory: "1073741824"}`, `{memory: 1Gi}`, false},
		"ProtocolDefault":         {port, `{port: 1}`, `{port: 1, protocol: TCP}`, true},
		"ProtocolSet":             {port, `{port: 1}`, `{port: 1, protocol: UDP}`, false},
		"IntOrStringText":         {port, `{port: 1, targetPort: "80"}`, `{port: 1, targetPort: 80}`, false},
		"UnknownField":            {port, `{port: 1, new: 0}`, `{port: 1}`, false},
		"RouteDefaults":           {rules, `[{}]`, `[{matches: [{path: {type: PathPrefix, value: /}}]}]`, true},
		"RouteZero":               {rules, `[{backendRefs: [{name: a, weight: 0}]}]`, `[{backendRefs: [{name: a}]}]`, false},
		"RouteWeight":             {rules, `[{backendRefs: [{name: a}]}]`, `[{backendRefs: [{name: a, weight: 1, kind: Service, group: ""}]}]`, true},
		"OthersZero":              {none, `{allow: false}`, `{}`, false},
		"OthersNumber":            {none, `{n: 0}`, `{}`, false},
		"OthersText":              {none, `{value: ""}`, `{}`, false},
		"OthersUnionMember":       {none, `{auto: {}}`, `{}`, false},
		"OthersProtocol":          {none, `{}`, `{protocol: TCP}`, false},
		"OthersQuantity":          {none, `{value: "1.0"}`, `{value: "1"}`, false},
		"OthersLimits":            {none, `{limits: {cpu: "0.5"}}`, `{limits: {cpu: 500m}}`, false},
		"NumberForms":             {none, `{n: 1}`, `{n: 1.0}`, true},
		"LargeNumbers":            {none, `{n: 9007199254740993}`, `{n: 9007199254740992}`, false},
		"OwnStructsMayHaveLost":   {below(t, ruleKind, own{}, "spec.items"), `[{name: a}]`, `[{name: a}]`, false},
		"OwnStringsHaveNotLost":   {below(t, ruleKind, own{}, "spec.names"), `[a]`, `[a]`, true},
		"OwnMapsHaveNotLost":      {below(t, ruleKind, own{}, "spec.labels"), `{a: b}`, `{a: b}`, true},
		"OwnZero":                 {below(t, ruleKind, own{}, "spec.allowed"), `false`, `null`, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var intent, live any
			if yaml.Unmarshal([]byte(tc.intent), &intent) != nil || yaml.Unmarshal([]byte(tc.live), &live) != nil {
				t.Fatal("bad case")
			}
			if got := fieldset.EqualValues(tc.schema, intent, live); got != tc.want {
				t.Errorf("EqualValues(%s, %s) = %v, want %v", tc.intent, tc.live, got, tc.want)
			}
		})
	}
}

// FuzzEqualValues checks that without a schema, values are equal if they have the same JSON, and that with
// a schema, a value equals itself.
func FuzzEqualValues(f *testing.F) {
	f.Add([]byte(`{"cpu":"1000m"}`), []byte(`{"cpu":"1"}`))
	f.Add([]byte(`[{}]`), []byte(`[{"matches":[]}]`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var x, y any
		if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
			return
		}
		first, err1 := json.Marshal(x)
		second, err2 := json.Marshal(y)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if got, want := fieldset.EqualValues(fieldset.Schema{}, x, y), bytes.Equal(first, second); got != want {
			t.Errorf("%s equals %s: %v, want %v", a, b, got, want)
		}
		for _, path := range []string{"spec", "spec.volumes", "metadata", "status"} {
			s := below(t, podKind, nil, path)
			fieldset.EqualValues(s, x, y)
			fieldset.EqualValues(s, y, x)
		}
	})
}
