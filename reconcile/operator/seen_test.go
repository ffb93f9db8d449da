package operator_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/operator"
)

// TestExplainAndPreview checks that a running operator can serve explanations of its owners, and that another process can preview its writes.
func TestExplainAndPreview(t *testing.T) {
	namespace, metrics := env.Namespace(t), free(t)
	run := func(args ...string) (string, error) {
		var out strings.Builder
		err := widgets("other").Run(t.Context(), args, &out, io.Discard)
		return out.String(), err
	}
	common := []string{"-namespaces=" + namespace, "-health-probe-bind-address=0", "-metrics-bind-address=" + metrics}
	stop := start(t, widgets("one"), append(common, "-serve-explanations")...)
	site := newWidget(namespace, "site")
	create(t, site)
	eventually(t, "the child", func() bool { return made(t, site) != nil })
	explain := []string{"explain", "widget", namespace + "/site", "-server=http://" + metrics}
	var text string
	eventually(t, "the explanation", func() bool {
		said, err := run(explain...)
		text = said
		return err == nil && strings.Contains(said, "ConfigMap "+namespace+"/site: create (Missing)")
	})
	if !strings.Contains(text, "Widget "+namespace+"/site (controller widget): ready") {
		t.Errorf("explanation:\n%s", text)
	}
	stop()

	if text, err := run("preview", "-namespaces="+namespace); err != nil || !strings.Contains(text, "none") {
		t.Errorf("preview of what is right: %v\n%s", err, text)
	}
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "site"}}
	if err := env.Client().Delete(t.Context(), child); err != nil {
		t.Fatal(err)
	}
	for form, want := range map[string]string{
		"table": "ConfigMap " + namespace + "/site  create", "diff": "create ConfigMap " + namespace + "/site (Missing", "json": `"verb": "create"`,
	} {
		text, err := run("preview", "-namespaces="+namespace, "-output="+form)
		if !errors.Is(err, operator.ErrWouldChange) || !strings.Contains(text, want) {
			t.Errorf("preview as %s: %v\n%s", form, err, text)
		}
	}
	if made(t, site) != nil {
		t.Error("a preview has written")
	}

	file := filepath.Join(t.TempDir(), "fresh.yaml")
	fresh := "# a comment\n---\napiVersion: test.reconcilekit.dev/v1\nkind: Widget\nmetadata: {namespace: " + namespace + ", name: fresh}\n---\n"
	if err := os.WriteFile(file, []byte(fresh), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := run("preview", "-namespaces="+namespace, "-filename="+file)
	if !errors.Is(err, operator.ErrWouldChange) || !strings.Contains(text, "ConfigMap "+namespace+"/fresh  create") || strings.Contains(text, "/site") {
		t.Errorf("preview of a manifest: %v\n%s", err, text)
	}

	start(t, widgets("two"), common...)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"preview", "-output=yaml"}, "want table, diff or json"},
		{[]string{"preview", "-filename=nowhere.yaml"}, "flag -filename: open nowhere.yaml"},
		{[]string{"preview", "-filename=/dev/null"}, "/dev/null has no object"},
		{[]string{"explain", "widget"}, `want KIND NAMESPACE/NAME, got ["widget"]`},
		{[]string{"explain", "-server=x", "widget", "a/b", "c"}, `unexpected argument "widget"`},
		{[]string{"-serve-explanations", "-metrics-bind-address=0"}, "set -metrics-bind-address, too"},
	} {
		if _, err := run(c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.args, err, c.want)
		}
	}
	eventually(t, "no explanations unless they are asked for", func() bool {
		_, err := run(explain...)
		return err != nil && strings.Contains(err.Error(), "404")
	})
}
