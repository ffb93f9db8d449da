package deptest_test

import (
	"slices"
	"strings"
	"testing"
)

// budgets returns how many packages outside the standard library and this module an import may add. Each number is the
// cost of the intended imports plus a small margin: 61 for metav1 (63 with unstructured), 526 for controller-runtime's
// client.
func budgets() map[string]int {
	return map[string]int{
		"naming":                    4,
		"templates":                 4,
		"conditions":                64,
		"health":                    66,
		"health/inspect":            75,
		"layers":                    0,
		"layers/container":          64,
		"layers/podtemplate":        64,
		"manifests":                 66,
		"defaulting":                0,
		"routing":                   70,
		"routing/claims":            70,
		"reconcile/apply":           540,
		"reconcile":                 540,
		"reconcile/apply/engine":    540,
		"reconcile/internal/status": 540,
		"reconcile/since":           540,
		"reconcile/runonce":         540,
		"reconcile/transition":      0,
		"reconcile/settings":        540,
		"reconcile/external":        540,
		"reconcile/scaling":         540,
	}
}

func TestClosureBudgets(t *testing.T) {
	t.Parallel()

	all := packages(t)

	for name, budget := range budgets() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			pkg, ok := all[modulePath+"/"+name]
			if !ok {
				t.Fatalf("budgets lists %s, but no such package exists", name)
			}

			foreign := foreignDeps(all, pkg)
			if len(foreign) <= budget {
				return
			}

			t.Errorf("importing %s costs %d packages, want at most %d; its direct imports cost:", name, len(foreign), budget)

			for _, path := range pkg.Imports {
				if cost := len(foreignDeps(all, all[path])); cost > 0 {
					t.Errorf("  %4d %s", cost, path)
				}
			}
		})
	}
}

// foreignDeps returns the packages of other modules that importing pkg adds, including pkg itself if it is of another
// module.
func foreignDeps(all map[string]listed, pkg listed) []string {
	var foreign []string

	for _, path := range append(slices.Clone(pkg.Deps), pkg.ImportPath) {
		if _, mine := ours(path); !mine && path != "" && path != "C" && !all[path].Standard {
			foreign = append(foreign, path)
		}
	}

	return foreign
}

// TestOnlyListedPackagesImportTheManager checks that only packages for controllers depend on controller-runtime's
// manager.
func TestOnlyListedPackagesImportTheManager(t *testing.T) {
	t.Parallel()

	const runtime = "sigs.k8s.io/controller-runtime"

	heavy := []string{
		runtime, runtime + "/pkg/builder", runtime + "/pkg/manager", runtime + "/pkg/handler", runtime + "/pkg/envtest",
	}
	allowed := []string{"reconcile/controller", "reconcile/install", "reconcile/operator", "reconcile/reconciletest"}

	for path, pkg := range packages(t) {
		name, mine := ours(path)
		if !mine || slices.Contains(allowed, name) || strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "reconcile/controller/") ||
			strings.HasPrefix(name, "reconcile/reconciletest/") {
			continue
		}

		for _, dep := range pkg.Deps {
			if slices.Contains(heavy, dep) {
				t.Errorf("%s depends on %s; only %s may depend on it", name, dep, strings.Join(allowed, " and "))
			}
		}
	}
}

// TestOnlyTheKitImportsCEL checks that operators do not depend on the API server's libraries for schemas and their CEL.
func TestOnlyTheKitImportsCEL(t *testing.T) {
	t.Parallel()

	inKit := false
	for path, pkg := range packages(t) {
		name, mine := ours(path)
		kit := name == "reconcile/reconciletest" || strings.HasPrefix(name, "reconcile/reconciletest/")

		if !mine {
			continue
		}

		for _, dep := range pkg.Deps {
			if !strings.HasPrefix(dep, "github.com/google/cel-go/") && !strings.HasPrefix(dep, "k8s.io/apiserver/") {
				continue
			}

			inKit = inKit || kit
			if !kit {
				t.Errorf("%s depends on %s; only reconcile/reconciletest may depend on it", name, dep)
			}
		}
	}

	if !inKit {
		t.Error("the kit depends on none of them: this test checks the wrong packages")
	}
}

// TestProductionCodeImportsNoTestLibrary checks that no library package depends on an assertion library, which every
// user would get.
func TestProductionCodeImportsNoTestLibrary(t *testing.T) {
	t.Parallel()

	libraries := []string{
		"github.com/onsi/ginkgo/v2", "github.com/onsi/gomega", "github.com/google/go-cmp/cmp", "github.com/stretchr/testify",
	}

	forTests := []string{"reconcile/reconciletest", "internal/casecost", "internal/vectors"}

	for path, pkg := range packages(t) {
		name, mine := ours(path)
		if mine && slices.ContainsFunc(slices.Concat(pkg.TestImports, pkg.XTestImports), ofTestify) {
			t.Errorf("the tests of %s import testify: use the standard library and go-cmp, or Ginkgo and Gomega", name)
		}

		if !mine || slices.Contains(forTests, name) || strings.HasPrefix(name, "reconcile/reconciletest/") {
			continue
		}

		for _, imported := range pkg.Imports {
			if slices.Contains(libraries, imported) {
				t.Errorf("%s imports %s outside its tests", name, imported)
			}

			if imported == "testing" {
				t.Errorf("%s imports testing outside its tests: move test support to reconcile/reconciletest", name)
			}
		}
	}
}

func ofTestify(imported string) bool {
	return strings.HasPrefix(imported, "github.com/stretchr/testify")
}
