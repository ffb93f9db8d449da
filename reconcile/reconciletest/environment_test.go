package reconciletest_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
)

// env is the API server of this package's tests.
var env = &environment.Environment{
	CRDs:             []*apiextensionsv1.CustomResourceDefinition{gadgetCRD(), widget.CRD(), strictCRD(), gateCRD()},
	AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"},
	Audit:            true,
}

// stage names the environment variable that selects the environment of a copy of this test binary.
const stage = "RECONCILETEST_STAGE"

func TestMain(m *testing.M) {
	if os.Getenv(stage) == "never-started" {
		os.Exit(m.Run())
	}

	os.Exit(env.Main(m))
}

func gadgetCRD() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.reconciletest.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "reconciletest.example.com",
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Kind: "Gadget"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"},
				},
			}},
		},
	}
}

func TestEnvironmentServesItsCRDs(t *testing.T) {
	t.Parallel()

	namespace := env.Namespace(t)
	gadget := &unstructured.Unstructured{}
	gadget.SetGroupVersionKind(schema.GroupVersionKind{Group: "reconciletest.example.com", Version: "v1", Kind: "Gadget"})
	gadget.SetNamespace(namespace)
	gadget.SetName("first")

	if err := env.Client().Create(t.Context(), gadget); err != nil {
		t.Fatalf("create a gadget: %v", err)
	}

	if gadget.GetUID() == "" {
		t.Error("the gadget has no UID: it was not stored")
	}
}

func TestNamespaceIsFreshAndDeleted(t *testing.T) {
	t.Parallel()
	env.Require(t)

	names := map[string]bool{}

	for _, test := range []string{"one", "one_again", "Ünïcode/2", strings.Repeat("long", 30)} {
		t.Run(test, func(t *testing.T) {
			name := env.Namespace(t)
			names[name] = true

			var got corev1.Namespace
			if err := env.Client().Get(t.Context(), client.ObjectKey{Name: name}, &got); err != nil {
				t.Fatalf("get the namespace: %v", err)
			}

			if got.Annotations["reconciletest/test"] != t.Name() {
				t.Errorf("annotations %v do not name the test %q", got.Annotations, t.Name())
			}
		})
	}

	if len(names) != 4 {
		t.Errorf("4 tests got the namespaces %v", names)
	}

	for name := range names {
		var got corev1.Namespace

		err := env.Client().Get(t.Context(), client.ObjectKey{Name: name}, &got)
		if !apierrors.IsNotFound(err) && got.DeletionTimestamp == nil {
			t.Errorf("namespace %s is not deleted after its test (%v)", name, err)
		}
	}
}

// TestServiceAccountConfig checks that the token belongs to the account and that the
// administrator's certificate is not included.
func TestServiceAccountConfig(t *testing.T) {
	t.Parallel()

	namespace := env.Namespace(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "operator"}}
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "operator"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "operator"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "operator"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "operator"}},
	}

	for _, object := range []client.Object{account, role, binding} {
		if err := env.Client().Create(t.Context(), object); err != nil {
			t.Fatalf("create %T: %v", object, err)
		}
	}

	config, err := env.ServiceAccountConfig(t.Context(), namespace, "operator")
	if err != nil {
		t.Fatal(err)
	}

	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}

	if err := c.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(namespace)); err != nil {
		t.Errorf("list what the role allows: %v", err)
	}

	err = c.List(t.Context(), &corev1.SecretList{}, client.InNamespace(namespace))
	if !apierrors.IsForbidden(err) {
		t.Errorf("list what the role does not allow: want Forbidden, got %v", err)
	}

	_, err = env.ServiceAccountConfig(t.Context(), namespace, "nobody")
	if want := fmt.Sprintf("service account %s/nobody", namespace); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("token of an account that does not exist: want an error with %q, got %v", want, err)
	}
}

func TestStartRefusesASecondStart(t *testing.T) {
	t.Parallel()
	env.Require(t)

	if err := env.Start(); err == nil || !strings.Contains(err.Error(), "already running") {
		t.Errorf("want an error that says it runs already, got %v", err)
	}
}

func TestStartErrors(t *testing.T) {
	empty := t.TempDir()
	cases := map[string]struct {
		reason     string
		assets     string
		kubeconfig string
		want       string
		sentinel   bool
	}{
		"nothing given": {
			reason: "a missing control plane has its own error",
			want:   "set KUBEBUILDER_ASSETS to a folder", sentinel: true,
		},
		"empty folder": {
			reason: "an invalid KUBEBUILDER_ASSETS is an error and does not skip the test",
			assets: empty, want: "find etcd in KUBEBUILDER_ASSETS=" + empty,
		},
		"missing kubeconfig": {
			reason:     "the kubeconfig overrides the folder",
			assets:     empty,
			kubeconfig: filepath.Join(empty, "kubeconfig"), want: "that RECONCILETEST_KUBECONFIG names",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBEBUILDER_ASSETS", tc.assets)
			t.Setenv(environment.EnvKubeconfig, tc.kubeconfig)

			var started environment.Environment

			err := started.Start()
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: want an error with %q, got %v", tc.reason, tc.want, err)
			}

			if got := errors.Is(err, environment.ErrNoControlPlane); got != tc.sentinel {
				t.Errorf("%s: errors.Is(err, ErrNoControlPlane) = %t, want %t", tc.reason, got, tc.sentinel)
			}

			if started.Config() != nil || started.Client() != nil {
				t.Error("an environment that failed to start has a client")
			}
		})
	}
}

// TestWithoutControlPlane runs this binary again without a control plane.
func TestWithoutControlPlane(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		env      []string
		exitCode int
		want     string
	}{
		"skips without CI": {want: "SKIP: no control plane: set KUBEBUILDER_ASSETS"},
		"fails with CI":    {env: []string{"CI=true"}, exitCode: 1, want: "FAIL: no control plane: set KUBEBUILDER_ASSETS"},
		"reports that it was not started": {
			env: []string{stage + "=never-started"}, exitCode: 1, want: "call Main from TestMain",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEnvironmentServesItsCRDs$", "-test.v")
			command.Env = append(os.Environ(), "KUBEBUILDER_ASSETS=", "RECONCILETEST_KUBECONFIG=", "CI=")
			command.Env = append(command.Env, tc.env...)

			out, err := command.CombinedOutput()

			if diff := cmp.Diff(tc.exitCode, command.ProcessState.ExitCode()); diff != "" {
				t.Errorf("exit code (-want +got):\n%s%v\n%s", diff, err, out)
			}

			if !strings.Contains(string(out), tc.want) {
				t.Errorf("want output with %q, got:\n%s", tc.want, out)
			}
		})
	}
}

// TestGivenKubeconfigWins points a second environment at the API server of the
// first, with an empty folder for binaries.
func TestGivenKubeconfigWins(t *testing.T) {
	env.Require(t)

	kubeconfig, err := environment.Kubeconfig(env.Config())
	if err != nil {
		t.Fatal(err)
	}

	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}

	t.Setenv(environment.EnvKubeconfig, file)
	t.Setenv("KUBEBUILDER_ASSETS", t.TempDir())

	var second environment.Environment

	second.Setup(t)

	if diff := cmp.Diff(env.Config().Host, second.Config().Host); diff != "" {
		t.Errorf("host (-want +got):\n%s", diff)
	}

	if err := second.Stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}

	if err := env.Client().List(t.Context(), &corev1.NamespaceList{}); err != nil {
		t.Errorf("stopping the second environment stopped the given cluster: %v", err)
	}
}
