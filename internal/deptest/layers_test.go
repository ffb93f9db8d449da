package deptest_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layers returns the packages of this module that each package may import. A missing package may import none, so a new
// package must be added.
func layers() map[string][]string {
	const loop, problem = "reconcile/internal/pipeline", "routing/internal/problem"
	const fresh = "reconcile/internal/freshness"
	core := []string{"conditions", "health", fresh, "reconcile/internal/conditionlist"}
	engine := append(slices.Clone(core), "reconcile/apply", "reconcile/internal/status", "reconcile/internal/derived")
	author := []string{"conditions", "health", "reconcile/apply", "reconcile"}
	all := append(slices.Clone(engine), "reconcile", loop)

	out := map[string][]string{
		".":                                nil,
		"naming":                           nil,
		"layers":                           nil,
		"layers/container":                 nil,
		"layers/podtemplate":               {"layers", "layers/container"},
		"templates":                        {"internal/text"},
		"conditions":                       {"internal/text"},
		"health":                           {"conditions", "internal/text"},
		"health/inspect":                   {"conditions", "health", "internal/text"},
		"manifests":                        {"internal/text"},
		"defaulting":                       {"internal/fingerprint", "internal/mergepatch", "internal/recent"},
		"routing":                          {"health", "layers", problem, "routing/pathtemplate"},
		problem:                            {"health", "internal/text"},
		"routing/pathtemplate":             {problem},
		"routing/claims":                   {"health", problem},
		fresh:                              nil,
		"reconcile/internal/conditionlist": nil,
		"reconcile/internal/derived":       {"internal/fingerprint"},
		"reconcile/internal/status":        {"internal/fingerprint", "internal/mergepatch"},
		"reconcile":                        {"conditions", "health", "reconcile/apply", "reconcile/internal/derived"},
		loop:                               append(slices.Clone(engine), "reconcile"),
		"reconcile/children":               append(slices.Clone(author), "internal/fingerprint", "internal/recent", "manifests"),
		"reconcile/secrets":                author,
		"reconcile/internal/external":      append(slices.Clone(all), "internal/text"),
		"reconcile/external":               append(slices.Clone(all), "reconcile/internal/external"),
		"reconcile/admission":              {"defaulting"},
		"reconcile/since":                  {"reconcile/apply"},
		"reconcile/runonce":                append(slices.Clone(author), "health/inspect"),
		"reconcile/transition":             nil,
		"reconcile/settings":               author,
		"reconcile/scaling":                {"reconcile/apply"},
		"reconcile/explain":                nil,
		"reconcile/preview":                nil,
		"reconcile/install":                {"reconcile/controller/dataflow"},
		"reconcile/operator": {
			"reconcile/controller", "reconcile/controller/dataflow", "reconcile/preview", "reconcile/operator/internal/certificate",
		},
		"reconcile/operator/internal/certificate": nil,
	}
	maps.Copy(out, engineLayers())
	maps.Copy(out, kitLayers(all))
	maps.Copy(out, controllerLayers(all))

	return out
}

// kitLayers returns the layers of the test kit, from the lowest to the highest.
func kitLayers(all []string) map[string][]string {
	const kit = "reconcile/reconciletest"
	const internal = kit + "/internal/"
	bottom := []string{internal + "randomname", internal + "objects", internal + "passlog", kit + "/requests", internal + "rights", internal + "schedule"}
	described := append(slices.Clone(bottom), internal+"apiserver", kit+"/environment", internal+"finding", internal+"description")
	connected := append(slices.Clone(described), internal+"cluster", internal+"transport", internal+"view")
	runs := append(slices.Clone(connected), internal+"run", internal+"baseline")
	checks := append(slices.Clone(runs), internal+"difference", internal+"checker")

	return map[string][]string{
		internal + "apirules":    nil,
		internal + "crdschema":   nil,
		internal + "randomname":  nil,
		internal + "objects":     nil,
		internal + "passlog":     nil,
		kit + "/requests":        nil,
		internal + "finding":     nil,
		internal + "rights":      {kit + "/requests"},
		internal + "schedule":    {internal + "objects"},
		internal + "apiserver":   {"internal/plural", internal + "apirules", internal + "crdschema", internal + "objects"},
		kit + "/environment":     {kit + "/requests", internal + "rights"},
		internal + "description": {internal + "apiserver", internal + "randomname", kit + "/environment", internal + "finding", internal + "objects"},
		internal + "cluster":     append(slices.Clone(described), "internal/plural", "health", "reconcile/internal/external"),
		internal + "transport":   append(slices.Clone(described), internal+"cluster"),
		internal + "view":        append(slices.Clone(described), internal+"cluster", internal+"transport"),
		internal + "run":         append(slices.Clone(connected), "reconcile/internal/external"),
		internal + "difference":  {internal + "objects", internal + "cluster"},
		internal + "baseline":    append(slices.Clone(connected), internal+"run"),
		internal + "faults":      runs,
		internal + "checker":     append(slices.Clone(runs), internal+"difference"),
		internal + "drift":       checks,
		internal + "search":      append(slices.Clone(checks), internal+"faults", internal+"drift"),
		kit + "/matchers":        nil,
		kit + "/values":          {internal + "crdschema", internal + "description", internal + "objects", internal + "search"},
		kit + "/check":           {internal + "finding"},
		kit + "/lint":            {"reconcile", "reconcile/apply", "reconcile/controller/dataflow"},
		kit + "/rights":          {kit + "/requests", internal + "rights"},
		kit: slices.Concat(all, connected,
			[]string{internal + "run", internal + "search", "reconcile/controller", "reconcile/controller/dataflow"}),
	}
}

func TestLayers(t *testing.T) {
	t.Parallel()

	for name := range layers() {
		if _, exists := packages(t)[strings.TrimSuffix(modulePath+"/"+name, "/.")]; !exists {
			t.Errorf("layers lists %s, but no such package exists", name)
		}
	}

	for path, pkg := range packages(t) {
		name, mine := ours(path)
		if !mine || strings.HasPrefix(name, "internal/") {
			continue
		}

		allowed, known := layers()[name]
		if !known {
			t.Errorf("package %s is in no layer: add it to layers and to docs/design.md", name)

			continue
		}

		for _, imported := range pkg.Imports {
			if below, mine := ours(imported); mine && !slices.Contains(allowed, below) {
				t.Errorf("%s imports %s; want only %v of this module", name, below, allowed)
			}
		}
	}
}

// TestExamplesImportNoInternals checks that examples import only what users can import. The compiler does not check
// this, because the nested module is below the path of the library.
func TestExamplesImportNoInternals(t *testing.T) {
	t.Parallel()

	module := filepath.Join(root(t), "examples")
	found, err := list(module, "./...")
	if err != nil {
		t.Fatal(err)
	}

	for path, pkg := range found {
		for _, imported := range slices.Concat(pkg.Imports, pkg.TestImports, pkg.XTestImports) {
			if name, mine := ours(imported); mine && strings.HasPrefix(name, "internal/") {
				t.Errorf("%s imports %s, which users cannot import", path, name)
			}
		}
	}
}

// TestPackageNames rejects package names that describe nothing.
func TestPackageNames(t *testing.T) {
	t.Parallel()

	empty := []string{"util", "utils", "common", "helper", "helpers", "types", "pkg", "misc", "shared", "base"}

	for path, pkg := range packages(t) {
		if name, mine := ours(path); mine && slices.Contains(empty, pkg.Name) {
			t.Errorf("package %s: the name %q does not describe the package", name, pkg.Name)
		}
	}
}

// TestLibraryRequirements checks the list of modules that the library requires directly, because every user gets them.
func TestLibraryRequirements(t *testing.T) {
	t.Parallel()

	allowed := []string{
		"github.com/distribution/reference",
		"github.com/go-logr/logr",
		"github.com/google/go-cmp",
		"github.com/onsi/ginkgo/v2",
		"github.com/onsi/gomega",
		"github.com/prometheus/client_golang",
		"go.uber.org/zap",                // the log uses its locked writer; already required by controller-runtime
		"go.opentelemetry.io/otel",       // attributes and status codes of spans
		"go.opentelemetry.io/otel/trace", // only the tracing API, which controller-runtime requires; no SDK
		"go.yaml.in/yaml/v3",
		"golang.org/x/time", // rate limits of calls outside the cluster; already required by client-go
		"k8s.io/api",
		"k8s.io/apiextensions-apiserver",
		"k8s.io/apimachinery",
		"k8s.io/apiserver", // schemas and CEL of the fake API server of reconciletest; TestOnlyTheKitImportsCEL keeps them out of operators
		"k8s.io/client-go",
		"k8s.io/klog/v2",
		"k8s.io/kube-openapi", // schemas of the fake API server of reconciletest; already required by apimachinery
		"k8s.io/utils",
		"sigs.k8s.io/controller-runtime",
		"sigs.k8s.io/gateway-api",
		"sigs.k8s.io/json",
		"sigs.k8s.io/structured-merge-diff/v6",
		"sigs.k8s.io/yaml",
	}

	data, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}

	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(fields) != 2 || !strings.HasPrefix(fields[1], "v") {
			continue // indirect requirements have a comment
		}

		if !slices.Contains(allowed, fields[0]) {
			t.Errorf("go.mod requires %s directly: remove the requirement, or add it to the list in this test", fields[0])
		}
	}
}
