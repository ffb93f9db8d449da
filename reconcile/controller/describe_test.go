package controller_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/transition"
)

// goldenUpdate names the environment variable that rewrites the golden files. The test still fails.
const goldenUpdate = "UPDATE_GOLDEN"

func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if os.Getenv(goldenUpdate) != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s was rewritten: run again without %s", path, goldenUpdate)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run with %s=1 to write it", err, goldenUpdate)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), %s=1 rewrites it:\n%s", path, goldenUpdate, diff)
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	p := page(t)
	golden(t, "page.md", p.Markdown())
	data, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "page.json", string(data))
	role, err := p.RoleYAML("widget-operator")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "role.yaml", string(role))
}

// TestFiles checks that the permissions for leader election are in the namespace of the lease if the operator's account is known.
func TestFiles(t *testing.T) {
	t.Parallel()
	p := page(t)
	alone, err := p.Files("widget-operator", types.NamespacedName{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "role.yaml", alone["config/rbac/role.yaml"])
	golden(t, "page.md", alone["docs/dataflow.md"])
	if len(alone) != 2 {
		t.Errorf("want a page and a role, got %d files", len(alone))
	}
	files, err := p.Files("widget-operator", types.NamespacedName{Namespace: "system", Name: "widgets"})
	if err != nil {
		t.Fatal(err)
	}
	if role := files["config/rbac/role.yaml"]; strings.Contains(role, "leases") {
		t.Errorf("the lease is in one namespace, but the rights are for all:\n%s", role)
	}
	golden(t, "leader_election.yaml", files["config/rbac/leader_election.yaml"])
	golden(t, "role_binding.yaml", files["config/rbac/role_binding.yaml"])
	golden(t, "page.md", files["docs/dataflow.md"])
}

// TestPageOfGroup checks that a group, which is not an object, has no CRD and no finalizer.
func TestPageOfGroup(t *testing.T) {
	t.Parallel()
	p, err := controller.NewPage("groups", testScheme(t), controller.NewGroup("sums", sums{}).Owns(&corev1.ConfigMap{}).Build())
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Controllers[0]; len(p.CRDs) > 0 || d.Finalizer != "" {
		t.Errorf("want no CRD and no finalizer, got %v and %q", p.CRDs, d.Finalizer)
	}
}

// TestPageOfSelection checks that the page shows which owners a controller reconciles.
func TestPageOfSelection(t *testing.T) {
	t.Parallel()
	p, err := controller.NewPage("selecting", testScheme(t), controller.New("w", idle{}).Owners(goldFilter(), whereGold()).Build())
	if err != nil {
		t.Fatal(err)
	}
	want := "tier=gold and Where at reconcile/controller/selection_test.go:"
	if got := p.Controllers[0].Owners; !strings.HasPrefix(got, want) {
		t.Errorf("the owners are selected by %q, want %q", got, want)
	}
	if page := p.Markdown(); !strings.Contains(page, "Of the owners' kind it reconciles the objects selected by "+want) {
		t.Errorf("the page does not name the selection:\n%s", page)
	}
}

// TestPlural checks that the rules contain the resource names of the API server.
func TestPlural(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"Gateway": "gateways", "NetworkPolicy": "networkpolicies", "Ingress": "ingresses", "Endpoints": "endpoints",
		"Key": "keys", "ConfigMap": "configmaps", "Mesh": "meshes", "Mailbox": "mailboxes", "Branch": "branches",
	} {
		object := gadget()
		object.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind})
		d, err := controller.New("w", idle{}).Reads(object).Build().Describe(testScheme(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Rules[0].Resources[0]; got != want {
			t.Errorf("the rights for %s name %s, want %s", kind, got, want)
		}
	}
}

// TestResource checks that an irregular plural can be declared.
func TestResource(t *testing.T) {
	t.Parallel()
	d, err := controller.New("w", idle{}).Reads(gadget(), controller.Resource("gadgetry")).Build().Describe(testScheme(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Rules[0].Resources[0]; got != "gadgetry" {
		t.Errorf("the rights name %s, want gadgetry", got)
	}
}

// fromNothing plans nothing and reports no health.
type fromNothing struct{}

func (fromNothing) FetchRemoteState(context.Context, reconcile.Reader, widgetPass) struct{} {
	return struct{}{}
}

func (fromNothing) PlanResources(context.Context, widgetPass, struct{}) (plan reconcile.PlanResult, _ error) {
	return plan, nil
}

func inspectPod(*corev1.Pod) health.Component { return health.Component{} }

func TestDeclarationErrors(t *testing.T) {
	t.Parallel()
	type unknown struct{ corev1.Pod }
	cases := map[string]struct {
		reason string
		build  *controller.Controller
		want   []string
	}{
		"NotInScheme": {
			reason: "a type that the scheme does not know is named with its line",
			build:  controller.New("w", idle{}).Reads(&unknown{}).Build(),
			want:   []string{`controller "w": Reads(*controller_test.unknown) at reconcile/controller/describe_test.go:`, "no kind"},
		},
		"InspectorOfAnotherType": {
			reason: "an inspector takes the declared type",
			build: controller.New("w", fromNothing{}).Owns(&corev1.Pod{}, controller.Inspector(func(*corev1.Secret) health.Component {
				return health.Component{}
			})).Build(),
			want: []string{"option Inspector: want a function that takes *v1.Pod, as the declared object, got one that takes *v1.Secret"},
		},
		"InspectorOfWhatIsRead": {
			reason: "only children are inspected",
			build:  controller.New("w", fromNothing{}).Reads(&corev1.Pod{}, controller.Inspector(inspectPod)).Build(),
			want:   []string{"Reads(Pod) at", "option Inspector goes with Owns and Writes"},
		},
		"InspectorWithHealth": {
			reason: "an observation that reports health has the say",
			build:  controller.New("w", idle{}).Owns(&corev1.Pod{}, controller.Inspector(inspectPod)).Build(),
			want:   []string{"Inspector of /v1/Pod is never called: the observation has GetComponentHealth without Options.InspectChildren"},
		},
		"JoinsNoGroup": {
			reason: "only groups are joined",
			build:  controller.New("w", idle{}).Joins(controller.New("other", idle{}).Build()).Build(),
			want:   []string{`controller "w": Joins("other"): the controller has no groups: want one of NewGroup or NewSingleton`},
		},
		"Transitions": {
			reason: "a table in which something is missing is named with it",
			build: controller.New("w", idle{}).Transitions(transition.Table[string, string, string]{
				Name: "Job", States: []string{"New"}, Facts: []string{"absent", "alive"}, Actions: map[string]map[string]string{"New": {"absent": "create"}},
			}).Build(),
			want: []string{`controller "w": transitions "Job": state "New" has no action for "alive"`},
		},
		"TwoRepresentations": {
			reason: "one kind has one informer",
			build: controller.New("w", idle{}).
				Reads(&corev1.Secret{}).
				Watches(controller.Metadata(corev1.SchemeGroupVersion.WithKind("Secret")), nil).Build(),
			want: []string{"Watches(Secret)", "is metadata", "but Reads", "is typed"},
		},
		"OwnsMetadata": {
			reason: "what is applied must be seen whole",
			build:  controller.New("w", idle{}).Owns(controller.Metadata(corev1.SchemeGroupVersion.WithKind("Secret"))).Build(),
			want:   []string{"Owns(Secret)", "metadata only"},
		},
		"OptionOfAnotherMethod": {
			reason: "what does not fit the method is no option of it",
			build:  controller.New("w", idle{}).Owns(&corev1.Secret{}, controller.NeverDeletes).Build(),
			want:   []string{"Owns(Secret) at reconcile/controller/describe_test.go:", "NeverDeletes does not go with this method"},
		},
		"TwoWaysToWrite": {
			reason: "one right less, and two less, exclude each other",
			build:  controller.New("w", idle{}).Writes(&corev1.Secret{}, controller.FieldsOnly, controller.NeverDeletes).Build(),
			want:   []string{"Writes(Secret, controller.FieldsOnly) at", "NeverDeletes does not go"},
		},
		"RetiredRead": {
			reason: "a retired kind is neither watched nor read",
			build:  controller.New("w", idle{}).Reads(&corev1.Secret{}, controller.Retired).Build(),
			want:   []string{"Reads(Secret) at", "Retired does not go"},
		},
		"OptionalOwner": {
			reason: "without its owners a controller has nothing to do",
			build:  controller.New("w", idle{}).Reads(&widget.Widget{}, controller.Optional).Build(),
			want:   []string{"Reads(Widget) at", "the kind of the owners must be installed"},
		},
		"PredicatesOfOwner": {
			reason: "no event of an owner is dropped",
			build:  controller.New("w", idle{}).Reads(&widget.Widget{}, controller.WithPredicates(predicate.LabelChangedPredicate{})).Build(),
			want:   []string{"the owner's own events are not restricted: select owners with Owners(Filter(...)) or Owners(Where(...))"},
		},
		"FilterOwner": {
			reason: "a filter of another purpose would keep owners out of the cache",
			build:  controller.New("w", idle{}).Reads(&widget.Widget{}, controller.Filter(client.MatchingLabels{"a": "b"})).Build(),
			want:   []string{"Reads(Widget) at reconcile/controller/describe_test.go:", "select the owners with Owners(Filter(...))"},
		},
		"WhereOfAnotherType": {
			reason: "a selection takes the type of the owners",
			build:  controller.New("w", idle{}).Owners(controller.Where(func(*corev1.Secret) bool { return true })).Build(),
			want:   []string{"For(Widget) at", "option Where: want a function that takes *widget.Widget, as the owners are, got one that takes *v1.Secret"},
		},
		"WhereOfChildren": {
			reason: "only owners are selected by a function",
			build:  controller.New("w", idle{}).Owns(&corev1.Secret{}, controller.Where(func(*corev1.Secret) bool { return true })).Build(),
			want:   []string{"Owns(Secret) at", "Where does not go with this method", "Where with Owners"},
		},
		"SelectNothing": {
			reason: "a selection of owners says what it selects",
			build:  controller.New("w", idle{}).Owners(controller.Filter()).Build(),
			want:   []string{"For(Widget) at", "option Filter: want at least one of client.MatchingLabels"},
		},
		"SelectByContentWhatIsRead": {
			reason: "a field is evaluated by the API server, and the controller reads the other objects of the kind",
			build: controller.New("w", idle{}).Owners(controller.Filter(client.MatchingFields{"spec.message": "a"})).
				Reads(&widget.Widget{}).Build(),
			want: []string{"only the API server evaluates spec.message", "besides its owners", "select with Where"},
		},
		"SelectGroups": {
			reason: "groups are no objects",
			build:  controller.NewSingleton("w", library{}).Owners(controller.Filter(client.MatchingLabels{"a": "b"})).Build(),
			want:   []string{"a group has no object to select: give Filter to Members"},
		},
		"FilterOptional": {
			reason: "a manager whose cache is filtered by a kind that is missing does not start",
			build: controller.New("w", idle{}).
				Reads(&corev1.Secret{}, controller.Optional, controller.Filter(client.MatchingLabels{"a": "b"})).Build(),
			want: []string{"Reads(Secret) at", "an optional kind cannot be filtered"},
		},
		"FilterNothing": {
			reason: "a filter says what it selects",
			build:  controller.New("w", idle{}).Reads(&corev1.Secret{}, controller.Filter()).Build(),
			want:   []string{"Reads(Secret) at", "option Filter", "client.InNamespace"},
		},
		"FilterLimit": {
			reason: "a cache has no first ten objects",
			build:  controller.New("w", idle{}).Reads(&corev1.Secret{}, controller.Filter(client.InNamespace("a"), client.Limit(10))).Build(),
			want:   []string{"Reads(Secret) at", "want labels, fields and a namespace", "a limit"},
		},
		"FilterTwice": {
			reason: "one of two filters would be forgotten",
			build: controller.New("w", idle{}).
				Reads(&corev1.Secret{}, controller.Filter(client.InNamespace("a"))).Owns(&corev1.Secret{}, controller.Filter(client.InNamespace("b"))).Build(),
			want: []string{"Owns(Secret) at", `"namespace b" here and "namespace a" in another call`},
		},
		"FilterChildByContent": {
			reason: "whether the cache shows a child has to be known before it is written",
			build: controller.New("w", idle{}).
				Reads(&corev1.Secret{}, controller.Filter(client.MatchingFields{"type": "Opaque"})).Owns(&corev1.Secret{}).Build(),
			want: []string{"Owns(Secret) at", "the field type"},
		},
	}
	for label, tc := range cases {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			_, err := tc.build.Describe(testScheme(t))
			if err == nil {
				t.Fatalf("%s: no error", tc.reason)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: error %q does not say %q", tc.reason, err, part)
				}
			}
		})
	}
}

func TestCacheOptions(t *testing.T) {
	t.Parallel()
	options, err := controller.CacheOptions(testScheme(t), declared())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for object, by := range options.ByObject {
		if _, ok := object.(*corev1.Secret); ok {
			got = append(got, by.Label.String())
		}
	}
	if diff := cmp.Diff([]string{"app=widget"}, got); diff != "" {
		t.Errorf("selectors of Secret (-want +got):\n%s", diff)
	}
	all := controller.New("all", idle{}).Reads(&corev1.Secret{}).Build()
	if _, err := controller.CacheOptions(testScheme(t), declared(), all); err == nil ||
		!strings.Contains(err.Error(), `"app=widget" and ""`) {
		t.Errorf("two selectors for one informer: error %v", err)
	}
}
