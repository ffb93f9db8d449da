package managedfields_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
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
			p, err := managedfields.ParsePath(tc.text)
			if (err != nil) != tc.wantErr {
				t.Fatalf("ParsePath(%q): error %v, want error %v", tc.text, err, tc.wantErr)
			}
			if err == nil && p.String() != tc.want {
				t.Errorf("ParsePath(%q) = %q, want %q", tc.text, p, tc.want)
			}
		})
	}
}

func TestPathCovers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		path, server string
		want         bool
	}{
		"Same":      {"spec.replicas", ".spec.replicas", true},
		"Below":     {"spec", ".spec.replicas", true},
		"Above":     {"spec.replicas", ".spec", false},
		"Other":     {"spec.a", ".spec.b", false},
		"Item":      {"spec.containers[name=main].image", `.spec.containers[name="main"].image`, true},
		"OtherItem": {"spec.containers[name=main].image", `.spec.containers[name="side"].image`, false},
		"SomeKeys":  {"spec.ports[port=80]", `.spec.ports[port=80,protocol="TCP"].nodePort`, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := managedfields.ParsePath(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Covers(tc.server); got != tc.want {
				t.Errorf("%q covers %q: %v, want %v", tc.path, tc.server, got, tc.want)
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
			p, err := managedfields.ParsePath(tc.path)
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

// FuzzParsePath: what parses has a canonical form that parses to itself.
func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"spec.replicas", `a["b.c"][k=v,l=w].d`, "[", `a["\""]`, ".."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := managedfields.ParsePath(text)
		if err != nil {
			return
		}
		again, err := managedfields.ParsePath(p.String())
		if err != nil || again.String() != p.String() {
			t.Errorf("%q: canonical form %q reads as %q, %v", text, p, again, err)
		}
	})
}
