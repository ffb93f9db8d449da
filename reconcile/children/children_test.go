package children_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
)

type facts struct {
	Name string
	On   bool
}

func (f facts) on() bool { return f.On }

func set(t testing.TB, declared ...children.Child[facts]) *children.Set[facts] {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, name := range []string{"always", "pruned", "kept", "deleted", "shared"} {
		files[name+".yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{.Name}}-" + name + "\n")}
	}
	files["broken.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\ntypo: 1\n")}
	parsed, err := manifests.Parse(files, scheme, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return &children.Set[facts]{Manifests: parsed, Children: declared}
}

// summary lists what a set plans: "mode name" for children, "delete name" for deletions.
func summary(plan apply.Plan) []string {
	modeNames := map[apply.Mode]string{apply.Own: "own", apply.Retained: "retained"}
	var out []string
	for _, c := range plan.Children {
		text := modeNames[c.Mode]
		if c.Existing {
			text = "keep"
		}
		if c.Recreate {
			text += "+recreate"
		}
		if len(c.Fields) > 0 {
			text += "+" + c.Fields[0].Path
		}
		out = append(out, text+" "+c.Object.GetName()+c.Object.GetLabels()["mutated"])
	}
	for _, d := range plan.Deletes {
		out = append(out, strings.TrimSpace("delete "+d.Object.GetName()+" "+d.Labels["by"]))
	}
	return out
}

func TestPlan(t *testing.T) {
	t.Parallel()
	s := set(t,
		children.Child[facts]{Template: "always.yaml", Options: []apply.ChildOption{apply.Recreate()}, Dynamic: func(f facts) []apply.ChildOption {
			return []apply.ChildOption{apply.Seed("data." + f.Name)}
		}},
		children.Child[facts]{Template: "pruned.yaml", When: facts.on, Mutate: func(f facts, o manifests.Object) {
			o.SetLabels(map[string]string{"mutated": "!" + f.Name})
		}},
		children.Child[facts]{Template: "kept.yaml", When: facts.on, Off: children.Keep},
		children.Child[facts]{Template: "deleted.yaml", When: facts.on, Off: children.Delete, Deletion: []apply.DeletionOption{apply.MatchLabels{"by": "us"}}, Retained: true},
		children.Child[facts]{Template: "shared.yaml", Retained: true},
	)
	for name, test := range map[string]struct {
		in   facts
		want []string
	}{
		"On":  {facts{"a", true}, []string{"own+recreate+data.a a-always", "own a-pruned!a", "own a-kept", "retained a-deleted", "retained a-shared"}},
		"Off": {facts{"a", false}, []string{"own+recreate+data.a a-always", "keep a-kept", "retained a-shared", "delete a-deleted us"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := s.Plan(test.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, summary(plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFailedSetPlansNothing checks that a child that cannot be rendered leaves no plan in which the others are missing it.
func TestFailedSetPlansNothing(t *testing.T) {
	t.Parallel()
	s := set(t, children.Child[facts]{Template: "always.yaml"}, children.Child[facts]{Template: "broken.yaml"}, children.Child[facts]{Template: "nowhere.yaml"})
	plan, err := s.Plan(facts{Name: "a"})
	if err == nil || !strings.Contains(err.Error(), "child: broken.yaml:3: ") || !strings.Contains(err.Error(), "child: nowhere.yaml: ") {
		t.Errorf("want both errors: %v", err)
	}
	if got := summary(plan); len(got) > 0 {
		t.Errorf("a failed set planned %v", got)
	}
}
