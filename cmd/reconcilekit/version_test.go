package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestVersionWorks runs the commands and the tests of the scaffolded project. The versions are equal at first. Then each
// gets fields that the other lacks, and one field gets another name. An object created in the new version must be
// readable and writable in the hub.
func TestVersionWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a project")
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, args := range []string{
		"init --domain example.com --name shop --replace " + checkout,
		"create api --version v1 --kind Website --generate=false",
		"create version --version v1beta1 --hub v1 --kind Website",
	} {
		command := root()
		command.SetArgs(strings.Fields(args))
		command.SetOut(t.Output())
		command.SetErr(t.Output())
		if err := command.ExecuteContext(t.Context()); err != nil {
			t.Fatalf("reconcilekit %s: %v", args, err)
		}
	}
	runCommand(t, "go", "vet", "./...")
	runCommand(t, "go", "test", "./api/...")

	const field = "\tText string `json:\"text,omitempty\"`\n"
	replace(t, "api/v1/website.go", field, field+"\tTitle string `json:\"title,omitempty\"`\n\tNewer *int64 `json:\"newer,omitempty\"`\n"+
		"\t// +kubebuilder:pruning:PreserveUnknownFields\n\tExtra *runtime.RawExtension `json:\"extra,omitempty\"`\n"+
		"\tParts []Part `json:\"parts,omitempty\"`\n", "// WebsiteStatus", "// Part is one.\ntype Part struct {\n\tA string `json:\"a\"`\n\tB int64 `json:\"b\"`\n}\n\n// WebsiteStatus",
		"import metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n",
		"import (\n\tmetav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\t\"k8s.io/apimachinery/pkg/runtime\"\n)\n")
	replace(t, "api/v1beta1/website.go", field, field+"\tHeading string `json:\"heading,omitempty\"`\n\tOlder map[string]int64 `json:\"older,omitempty\"`\n"+
		"\tParts []Part `json:\"parts,omitempty\"`\n", "// WebsiteStatus", "// Part is one.\ntype Part struct {\n\tA string `json:\"a\"`\n}\n\n// WebsiteStatus")
	replace(t, "api/v1beta1/website_conversion.go",
		"to *v1.Website) error {\n", "to *v1.Website) error {\n\tto.Spec.Title = from.Spec.Heading\n",
		"to *Website) error {\n", "to *Website) error {\n\tto.Spec.Heading = from.Spec.Title\n")
	replace(t, "config/samples/website-v1beta1.yaml", "  text: hello\n", "  text: hello\n  heading: heading\n  older: {a: 7}\n")
	if err := os.WriteFile("versions_test.go", []byte(versions), 0o600); err != nil {
		t.Fatal(err)
	}
	runCommand(t, "make", "generate")
	runCommand(t, "go", "test", "-run", "^(TestGenerated|TestVersions|TestWebsiteKeepsFields)$", "./...")
}

// versions is a test file that is added to the project.
const versions = `package main

import (
	"context"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestVersions(t *testing.T) {
	env.Installed(t, "config", func(ctx context.Context, config *rest.Config, args []string) error {
		o := program()
		o.Config = config
		return o.Run(ctx, args, io.Discard, io.Discard)
	})
	in := func(version string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("example.com/" + version)
		o.SetKind("Website")
		if err := env.Client().Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "sample-v1beta1"}, o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	hub := in("v1")
	spec := hub.Object["spec"].(map[string]any)
	if _, has := spec["older"]; has || spec["title"] != "heading" || hub.GetAnnotations()["example.com/v1beta1-fields"] == "" {
		t.Errorf("in v1: %v", hub)
	}
	patch := func(o *unstructured.Unstructured, text string) {
		if err := env.Client().Patch(t.Context(), o, client.RawPatch(types.MergePatchType, []byte(text))); err != nil {
			t.Fatal(err)
		}
	}
	patch(hub, "{\"spec\":{\"title\":\"other\",\"newer\":9007199254740993}}")
	older := in("v1beta1")
	spec = older.Object["spec"].(map[string]any)
	kept, _, _ := unstructured.NestedInt64(spec, "older", "a")
	if spec["heading"] != "other" || kept != 7 {
		t.Errorf("in v1beta1: %v", older)
	}
	patch(older, "{\"spec\":{\"text\":\"changed\"}}")
	spec = in("v1").Object["spec"].(map[string]any)
	if spec["title"] != "other" || spec["newer"] != int64(9007199254740993) || spec["text"] != "changed" {
		t.Errorf("in v1, after an update in v1beta1: %v", spec)
	}
}
`

func replace(t *testing.T, name string, pairs ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		if strings.Count(string(text), pairs[i]) != 1 {
			t.Fatalf("%s does not contain %q exactly once:\n%s", name, pairs[i], text)
		}
		text = []byte(strings.Replace(string(text), pairs[i], pairs[i+1], 1))
	}
	if err := os.WriteFile(filepath.FromSlash(name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func runCommand(t *testing.T, name string, args ...string) {
	t.Helper()
	if output, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil { //nolint:gosec // commands of this test
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
}
