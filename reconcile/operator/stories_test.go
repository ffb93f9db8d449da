package operator_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/operator"
)

// background starts the operator until the test ends. Its error is sent when it ends.
func background(t *testing.T, o operator.Operator, args ...string) (logs *output, ended <-chan error) {
	t.Helper()
	logs = &output{}
	done := make(chan error, 1)
	go func() { done <- o.Run(t.Context(), args, io.Discard, logs) }()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(logs)
		}
	})
	return logs, done
}

// TestVoidCredentials: when the account of a running operator is deleted, the process ends, and its last line says why.
func TestVoidCredentials(t *testing.T) {
	env.Require(t)
	if testing.Short() {
		t.Skip("waits until the API server forgets that it knows a token")
	}
	t.Parallel()
	namespace := env.Namespace(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "operator"}}
	create(t, account, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "operator"}},
	})
	config, err := env.ServiceAccountConfig(t.Context(), namespace, "operator")
	if err != nil {
		t.Fatal(err)
	}
	o := widgets("one")
	o.Config = config
	logs, ended := background(t, o, "-health-probe-bind-address=0", "-leader-elect", "-leader-election-namespace="+namespace, "-namespaces="+namespace)
	site := newWidget(namespace, "site")
	create(t, site)
	eventually(t, "the child", func() bool { return made(t, site) != nil })
	if err := env.Client().Delete(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Fatal("the operator ends without an error")
	}
	requireLast(t, logs, "leader election lost", "the lease was not renewed within 10s", "Unauthorized")
}

// passing is a widget of a kind whose CRD a test deletes.
type passing struct{ widget.Widget }

func (p *passing) DeepCopyObject() runtime.Object {
	return &passing{*p.Widget.DeepCopyObject().(*widget.Widget)}
}

type passingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []passing `json:"items"`
}

func (p *passingList) DeepCopyObject() runtime.Object {
	out := &passingList{TypeMeta: p.TypeMeta, ListMeta: *p.ListMeta.DeepCopy()}
	for i := range p.Items {
		out.Items = append(out.Items, *p.Items[i].DeepCopyObject().(*passing))
	}
	return out
}

func addPassing(scheme *runtime.Scheme) error {
	scheme.AddKnownTypeWithName(widget.GroupVersion.WithKind("Passing"), &passing{})
	scheme.AddKnownTypeWithName(widget.GroupVersion.WithKind("PassingList"), &passingList{})
	return nil
}

// The samples of the alert ReconcilekitOwnersGone.
const (
	owners = `reconcilekit_owners{condition="Ready",controller="passing",status="True"} 1`
	synced = `reconcilekit_cache_synced{controller="passing",kind="Passing"} 1`
)

// TestOwnersKindDeleted: when the CRD of the owners is deleted, the metrics of the alert ReconcilekitOwnersGone show it, other kinds are
// reconciled, and owners of a new CRD are, without a restart.
func TestOwnersKindDeleted(t *testing.T) {
	env.Require(t)
	t.Parallel()
	namespace := env.Namespace(t)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{widget.AddToScheme, addPassing, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(env.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	crd := func() *apiextensionsv1.CustomResourceDefinition {
		crd := widget.CRD()
		crd.Name = "passings." + widget.GroupVersion.Group
		crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "Passing", ListKind: "PassingList", Plural: "passings", Singular: "passing"}
		return crd
	}
	owner := func(name string) *passing {
		return &passing{widget.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}}
	}
	install := func(name string) {
		t.Helper()
		eventually(t, "the CRD", func() bool { return c.Create(t.Context(), crd()) == nil })
		eventually(t, "the owner "+name, func() bool { return c.Create(t.Context(), owner(name)) == nil })
	}
	install("before")
	o := widgets("one")
	o.AddToScheme = append(slices.Clone(o.AddToScheme), addPassing)
	o.Controllers = append(o.Controllers, controller.New("passing", noted[*passing]{"one"}).Owns(&corev1.ConfigMap{}).
		Reads(&corev1.Secret{}, controller.Filter(client.MatchingLabels{"shown": "true"})).Options(controller.Options{SkipNameValidation: true}).Build())
	metrics := free(t)
	_, ended := background(t, o, "-health-probe-bind-address=0", "-metrics-bind-address="+metrics, "-namespaces="+namespace)
	eventually(t, "the child", func() bool { return made(t, newWidget(namespace, "before")) != nil })
	served := func() string {
		_, text := answers(t, "http://"+metrics+"/metrics")
		if !strings.Contains(text, synced) {
			return owners // such a sample means nothing
		}
		return text
	}
	eventually(t, "the owner in the metrics", func() bool { return strings.Contains(served(), owners) })

	if err := c.Delete(t.Context(), crd()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no owners in the metrics, although the cache is synced", func() bool { return !strings.Contains(served(), owners) })
	site := newWidget(namespace, "site")
	create(t, site)
	eventually(t, "the child of another kind", func() bool { return made(t, site) != nil })
	install("after")
	eventually(t, "the child of an owner of the new CRD", func() bool { return made(t, newWidget(namespace, "after")) != nil })
	if len(ended) > 0 {
		t.Errorf("the operator ended: %v", <-ended)
	}
}

// finalized is a reconciler that has something to remove before its owner is deleted.
type finalized struct{ noted[*widget.Widget] }

func (finalized) Finalize(
	context.Context, reconcile.ReconcileContext[*widget.Widget], reconcile.FetchResult[*corev1.SecretList],
) (plan reconcile.PlanResult, err error) {
	return plan, nil
}

// TestUninstalled: an owner that is deleted while no process runs keeps the finalizer, which has the name of the controller, until the operator
// is installed again.
func TestUninstalled(t *testing.T) {
	t.Parallel()
	namespace := env.Namespace(t)
	widgets := func() operator.Operator {
		o := widgets("one")
		o.Controllers = []*controller.Controller{
			controller.New("widget", finalized{noted[*widget.Widget]{"one"}}).Owns(&corev1.ConfigMap{}).Reads(&corev1.Secret{}).
				Options(controller.Options{SkipNameValidation: true}).Build(),
		}
		return o
	}
	args := []string{"-health-probe-bind-address=0", "-namespaces=" + namespace}
	stop := start(t, widgets(), args...)
	site := newWidget(namespace, "site")
	create(t, site)
	eventually(t, "the child", func() bool { return made(t, site) != nil })
	stop()
	if err := env.Client().Delete(t.Context(), site); err != nil {
		t.Fatal(err)
	}
	if err := env.Client().Get(t.Context(), client.ObjectKeyFromObject(site), site); err != nil {
		t.Fatal(err)
	}
	if want := []string{apply.DefaultDomain + "/widget"}; !slices.Equal(site.Finalizers, want) || site.DeletionTimestamp.IsZero() {
		t.Errorf("finalizers %q, deleted at %v, want %q", site.Finalizers, site.DeletionTimestamp, want)
	}
	start(t, widgets(), args...)
	eventually(t, "the deletion", func() bool {
		return client.IgnoreNotFound(env.Client().Get(t.Context(), client.ObjectKeyFromObject(site), site)) == nil &&
			env.Client().Get(t.Context(), client.ObjectKeyFromObject(site), site) != nil
	})
}
