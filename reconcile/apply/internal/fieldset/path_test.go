package fieldset_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

func TestParsePath(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text, want string
		wantErr    bool
	}{
		"Fields":     {text: "spec.replicas", want: "spec.replicas"},
		"LeadingDot": {text: ".spec.replicas", want: "spec.replicas"},
		"Quoted":     {text: `metadata.annotations["example.com/x"]`, want: `metadata.annotations["example.com/x"]`},
		"Item":       {text: "spec.containers[name=main].image", want: "spec.containers[name=main].image"},
		"Keys":       {text: "spec.ports[protocol=TCP,port=80]", want: "spec.ports[port=80,protocol=TCP]"},
		"Empty":      {text: "", wantErr: true},
		"Dot":        {text: ".", wantErr: true},
		"TwoDots":    {text: "a..b", wantErr: true},
		"Trailing":   {text: "a.", wantErr: true},
		"Open":       {text: "a[b", wantErr: true},
		"NoKey":      {text: "a[=b]", wantErr: true},
		"Index":      {text: "a[0]", wantErr: true},
		"ItemFirst":  {text: "[a=b]", wantErr: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := fieldset.ParsePath(tc.text)
			if (err != nil) != tc.wantErr {
				t.Fatalf("ParsePath(%q): error %v, want error %v", tc.text, err, tc.wantErr)
			}
			if err == nil && p.String() != tc.want {
				t.Errorf("ParsePath(%q) = %q, want %q", tc.text, p, tc.want)
			}
		})
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ fields, path, want string }{
		"Field":      {`{"f:a":{},"f:b":{}}`, "a", `{"f:b":{}}`},
		"Below":      {`{"f:a":{"f:b":{},"f:c":{}}}`, "a.b", `{"f:a":{"f:c":{}}}`},
		"AllOfOne":   {`{"f:a":{"f:b":{}},"f:c":{}}`, "a.b", `{"f:c":{}}`},
		"Everything": {`{"f:a":{"f:b":{}}}`, "a.b", ``},
		"Item":       {`{"f:l":{"k:{\"n\":\"x\"}":{".":{},"f:v":{}}}}`, "l[n=x].v", `{"f:l":{"k:{\"n\":\"x\"}":{".":{}}}}`},
		"NotOurs":    {`{"f:a":{}}`, "b", `{"f:a":{}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := fieldset.Parse([]byte(tc.fields))
			if err != nil {
				t.Fatal(err)
			}
			want := &fieldset.Set{}
			if tc.want != "" {
				if want, err = fieldset.Parse([]byte(tc.want)); err != nil {
					t.Fatal(err)
				}
			}
			path, err := fieldset.ParsePath(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, path.Without(set), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Without(%s) (-want +got):\n%s", tc.path, diff)
			}
		})
	}
}

func TestServerPath(t *testing.T) {
	t.Parallel()
	content := map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"example.com": "a", "example.com/class": "b", "a.b[c": "c"}},
		"spec": map[string]any{
			"replicas": int64(1),
			"ports":    []any{map[string]any{"port": int64(80), "nodePort": int64(1)}, map[string]any{"port": int64(81), "protocol": "UDP"}},
			"names":    []any{"x", "y"},
		},
	}
	cases := map[string]struct {
		path, server string
		want         bool
	}{
		"Same":          {"spec.replicas", ".spec.replicas", true},
		"Below":         {"spec", ".spec.replicas", true},
		"Above":         {"spec.replicas", ".spec", false},
		"Other":         {"spec.names", ".spec.replicas", false},
		"DotAndSlash":   {`metadata.annotations["example.com/class"]`, ".metadata.annotations.example.com/class", true},
		"Prefix":        {`metadata.annotations["example.com"]`, ".metadata.annotations.example.com/class", false},
		"ShorterName":   {`metadata.annotations["example.com"]`, ".metadata.annotations.example.com", true},
		"Bracket":       {`metadata.annotations["a.b[c"]`, ".metadata.annotations.a.b[c", true},
		"DefaultedKey":  {"spec.ports[port=80]", `.spec.ports[port=80,protocol="TCP"].nodePort`, true},
		"OtherItem":     {"spec.ports[port=81]", `.spec.ports[port=80,protocol="TCP"].nodePort`, false},
		"OtherKey":      {"spec.ports[port=81]", `.spec.ports[port=81,protocol="TCP"]`, false},
		"NotInContent":  {"spec.ports", `.spec.ports[port=82,protocol="TCP"].nodePort`, false},
		"Value":         {"spec.names", `.spec.names[="y"]`, true},
		"MissingValue":  {"spec.names", `.spec.names[="z"]`, false},
		"Unclosed":      {"spec.ports", `.spec.ports[port=80`, false},
		"NoLeadingDot":  {"spec", "spec", false},
		"NoValueInKeys": {"spec.ports", ".spec.ports[port]", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := fieldset.ParsePath(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			server, ok := fieldset.ServerPath(content, tc.server)
			if got := ok && p.Contains(server); got != tc.want {
				t.Errorf("%q contains %q: %v, want %v", tc.path, tc.server, got, tc.want)
			}
		})
	}
}

func TestPathRemove(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ path, content, want string }{
		"Field":     {"a.b", `{"a":{"b":1,"c":2}}`, `{"a":{"c":2}}`},
		"LastField": {"a.b", `{"a":{"b":1}}`, `{}`},
		"Absent":    {"a.b.c", `{"a":{"b":{}}}`, `{"a":{"b":{}}}`},
		"Item":      {"a[n=x]", `{"a":[{"n":"x"},{"n":"y"}]}`, `{"a":[{"n":"y"}]}`},
		"InItem":    {"a[n=x].v", `{"a":[{"n":"x","v":1},{"n":"y","v":1}]}`, `{"a":[{"n":"x"},{"n":"y","v":1}]}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := fieldset.ParsePath(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			var m, want map[string]any
			if json.Unmarshal([]byte(tc.content), &m) != nil || json.Unmarshal([]byte(tc.want), &want) != nil {
				t.Fatal("bad case")
			}
			p.Remove(m)
			if diff := cmp.Diff(want, m); diff != "" {
				t.Errorf("Remove (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzParsePath checks that a valid path has a canonical form that parses to itself.
func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"spec.replicas", `a["b.c"][k=v,l=w].d`, "[", `a["\""]`, ".."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := fieldset.ParsePath(text)
		if err != nil {
			return
		}
		again, err := fieldset.ParsePath(p.String())
		if err != nil || again.String() != p.String() {
			t.Errorf("%q: canonical form %q reads as %q, %v", text, p, again, err)
		}
	})
}
