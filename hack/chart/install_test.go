package chart_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/kube"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

// cluster has an API server and a Helm client for it.
type cluster struct {
	client.Client
	*testing.T
	config *rest.Config
}

func start(t *testing.T) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("starts an API server")
	}
	env := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{definition("ServiceMonitor"), definition("PrometheusRule")}}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{Client: c, T: t, config: config}
}

// definition returns a CRD in place of one of the Prometheus Operator; it accepts any content.
func definition(kind string) *apiextensionsv1.CustomResourceDefinition {
	anything, singular := true, strings.ToLower(kind)
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: singular + "s.monitoring.coreos.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "monitoring.coreos.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Plural: singular + "s", Singular: singular},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &anything},
				},
			}},
		},
	}
}

// restricted creates a namespace that enforces the restricted level of Pod Security.
func (c *cluster) restricted(name string) {
	c.Helper()
	labels := map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	if err := c.Create(c.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}); err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) helm(namespace string) *action.Configuration {
	c.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	flags.Namespace = &namespace
	flags.WrapConfigFn = func(*rest.Config) *rest.Config { return rest.CopyConfig(c.config) }
	helm := action.NewConfiguration()
	if err := helm.Init(flags, namespace, "secret"); err != nil {
		c.Fatal(err)
	}
	return helm
}

// install installs a chart as helm install does.
func (c *cluster) install(folder, release, namespace string, values map[string]any, change func(*action.Install)) error {
	c.Helper()
	chart, err := loader.Load(folder)
	if err != nil {
		c.Fatal(err)
	}
	install := action.NewInstall(c.helm(namespace))
	install.ReleaseName, install.Namespace, install.WaitStrategy = release, namespace, kube.HookOnlyStrategy
	if change != nil {
		change(install)
	}
	_, err = install.RunWithContext(c.Context(), chart, values)
	return err
}

func (c *cluster) uninstall(release, namespace string) {
	c.Helper()
	uninstall := action.NewUninstall(c.helm(namespace))
	uninstall.WaitStrategy = kube.HookOnlyStrategy
	if _, err := uninstall.Run(release); err != nil {
		c.Fatal(err)
	}
}

func requireName(t *testing.T, c client.Client, object client.Object, namespace, name string) {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object); err != nil {
		t.Errorf("%T %s/%s: %v", object, namespace, name, err)
	}
}

// TestReinstall checks that CRDs remain after an uninstallation, that another release adopts them only with an option,
// and that a second release without CRDs works only in its own namespaces.
func TestReinstall(t *testing.T) {
	t.Parallel()
	const folder, crd = "../../examples/quickstart/chart", "websites.quickstart.example.com"
	c := start(t)
	for _, name := range []string{"shop", "other", "team"} {
		c.restricted(name)
	}
	if err := c.install(folder, "quickstart", "shop", nil, nil); err != nil {
		t.Fatal(err)
	}
	requireName(t, c, &appsv1.Deployment{}, "shop", "quickstart")
	c.uninstall("quickstart", "shop")
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "quickstart"}, &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Deployment after the uninstallation: %v", err)
	}
	stays := &unstructured.Unstructured{}
	stays.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	requireName(t, c, stays, "", crd)

	if err := c.install(folder, "web", "other", nil, nil); err == nil || !strings.Contains(err.Error(), "invalid ownership metadata") {
		t.Errorf("a release of another name: %v", err)
	}
	if err := c.install(folder, "web", "other", nil, func(i *action.Install) { i.TakeOwnership = true }); err != nil {
		t.Fatalf("a release that takes the CRDs: %v", err)
	}
	requireName(t, c, stays, "", crd)
	if got := stays.GetAnnotations()["meta.helm.sh/release-name"]; got != "web" {
		t.Errorf("the CRD belongs to the release %q, want web", got)
	}
	requireName(t, c, &appsv1.Deployment{}, "other", "web-quickstart")

	values := map[string]any{"crds": false, "namespaces": []any{"team"}}
	if err := c.install(folder, "second", "shop", values, nil); err != nil {
		t.Fatalf("install a second release in the cluster: %v", err)
	}
	requireName(t, c, &appsv1.Deployment{}, "shop", "second-quickstart")
	requireName(t, c, &rbacv1.RoleBinding{}, "team", "second-quickstart")
	err := c.Get(t.Context(), client.ObjectKey{Name: "second-quickstart"}, &rbacv1.ClusterRoleBinding{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("a release with namespaces is bound in the cluster: %v", err)
	}
	if err := c.install(folder, "third", "shop", map[string]any{"crds": false}, nil); err != nil {
		t.Errorf("a third release in the namespace of the second: %v", err)
	}
}

// TestInstalled installs each chart, with default and with changed values, into a namespace that enforces restricted.
// The API server must accept every object and a Pod of the Deployment.
func TestInstalled(t *testing.T) {
	t.Parallel()
	c := start(t)
	for i, folder := range charts(t) {
		for j, values := range []map[string]any{nil, everything()} {
			example := filepath.Base(filepath.Dir(folder))
			namespace := fmt.Sprintf("%s-%d", example, j)
			c.restricted(namespace)
			if err := c.install(folder, fmt.Sprintf("release-%d-%d", i, j), namespace, values, func(i *action.Install) { i.TakeOwnership = true }); err != nil {
				t.Errorf("%s: %v", namespace, err)
				continue
			}
			admitted(t, c, namespace)
		}
	}
}

// admitted checks that Pod Security admits a Pod of the Deployment.
func admitted(t *testing.T, c client.Client, namespace string) {
	t.Helper()
	list := &appsv1.DeploymentList{}
	if err := c.List(t.Context(), list, client.InNamespace(namespace)); err != nil || len(list.Items) != 1 {
		t.Fatalf("%s: %d Deployments: %v", namespace, len(list.Items), err)
	}
	template := list.Items[0].Spec.Template
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "judged", Labels: template.Labels}, Spec: template.Spec}
	pod.Spec.PriorityClassName = "" // the class does not exist
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: template.Spec.ServiceAccountName}}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(account), account); err != nil {
		t.Error(err)
	}
	if err := c.Create(t.Context(), pod, client.DryRunAll); err != nil {
		t.Errorf("%s: a Pod of the Deployment is rejected: %v", namespace, err)
	}
}

// everything returns a changed value for each value of the chart except namespaces, which have their own test.
func everything() map[string]any {
	text, err := os.ReadFile("testdata/everything.yaml")
	if err != nil {
		panic(err)
	}
	values := map[string]any{}
	if err := yaml.Unmarshal(text, &values); err != nil {
		panic(err)
	}
	return values
}
