package plugin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/cmd/reconcilekit/internal/plugin"
)

const project = `"config":{"domain":"example.com","repo":"example.com/m","layout":["go.kubebuilder.io/v4"]}`

// TestServe checks that the response to each kubebuilder command follows the plugin protocol.
func TestServe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request string
		files   int
		fails   string
	}{
		"api": {`{"apiVersion":"v1alpha1","command":"create api","args":["--group","shop","--version","v1","--kind","Page","--resource","--controller"],` +
			`"universe":{"main.go":"x"},` + project + `}`, 2, ""},
		"no controller": {`{"apiVersion":"v1alpha1","command":"create api","args":["--kind","Page","--version","v1","--controller=false"],` + project + `}`, 0, ""},
		"wrong kind":    {`{"apiVersion":"v1alpha1","command":"create api","args":["--kind","page","--version","v1"],` + project + `}`, 0, `--kind "page"`},
		"old":           {`{"apiVersion":"v1alpha1","command":"create api","args":["--kind","Page","--version","v1"]}`, 0, "4.10 or later"},
		"init":          {`{"apiVersion":"v1alpha1","command":"init","args":["--domain","example.com"]}`, 0, ""},
		"flags":         {`{"apiVersion":"v1alpha1","command":"flags","args":["--api"]}`, 0, ""},
		"metadata":      {`{"apiVersion":"v1alpha1","command":"metadata","args":["--api"]}`, 0, ""},
		"webhook":       {`{"apiVersion":"v1alpha1","command":"create webhook"}`, 0, `"create webhook"`},
		"protocol":      {`{"apiVersion":"v2","command":"init"}`, 0, `"v2"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := plugin.Serve(strings.NewReader(c.request), &out); err != nil {
				t.Fatal(err)
			}
			var answer struct {
				APIVersion, Command string
				Universe            map[string]string
				Error               bool
				ErrorMsgs           []string
			}
			if err := json.Unmarshal([]byte(out.String()), &answer); err != nil {
				t.Fatal(err)
			}
			if answer.APIVersion != "v1alpha1" || answer.Universe == nil || len(answer.Universe) != c.files || answer.Error != (c.fails != "") ||
				!strings.Contains(strings.Join(answer.ErrorMsgs, ""), c.fails) {
				t.Errorf("unexpected response: %s", out.String())
			}
		})
	}
	if err := plugin.Serve(strings.NewReader("invalid JSON"), &strings.Builder{}); err == nil {
		t.Error("an invalid request must not get a response")
	}
}
