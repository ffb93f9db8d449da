package migration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
)

var env = &environment.Environment{CRDPaths: []string{"../quickstart/config/crd"}, Scheme: runtime.NewScheme()}

func TestMain(m *testing.M) {
	if err := errors.Join(clientscheme.AddToScheme(env.Scheme), v1.AddToScheme(env.Scheme)); err != nil {
		panic(err)
	}
	ctrl.SetLogger(logr.Discard())
	os.Exit(env.Main(m))
}

// fixture has a Website and runs an operator for it.
type fixture struct {
	*testing.T
	client.Client
	site *v1.Website
	sent requests.Requests // requests of the operators
}

// run runs an operator until stop is called.
func (w *fixture) run(setUp func(ctrl.Manager) error) (stop func()) {
	w.Helper()
	again := true
	options := ctrl.Options{
		Scheme: env.Scheme, Metrics: server.Options{BindAddress: "0"},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{w.site.Namespace: {}}},
	}
	options.Controller.SkipNameValidation = &again
	mgr, err := ctrl.NewManager(w.sent.Observe(env.Config()), options)
	if err := errors.Join(err, setUp(mgr)); err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.Errorf("the operator returned %v", err)
		}
	})
	w.Cleanup(stop)
	return stop
}

func (w *fixture) eventually(what string, try func() error) {
	w.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("%s: %v", what, err)
		}
	}
}

// objects reads the owner and its children from the API server.
func (w *fixture) objects() (map[string]client.Object, error) {
	found := map[string]client.Object{
		"Website": &v1.Website{}, "ConfigMap": &corev1.ConfigMap{}, "Service": &corev1.Service{}, "Deployment": &appsv1.Deployment{},
	}
	for _, object := range found {
		if err := w.Get(w.Context(), client.ObjectKeyFromObject(w.site), object); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// left lists the remaining managed fields and values of the old operator.
func (w *fixture) left() (left []string, err error) {
	objects, err := w.objects()
	if err != nil {
		return nil, err
	}
	for kind, object := range objects {
		for _, entry := range object.GetManagedFields() {
			// The old manager still owns the empty lists of the status, because both managers own a list; only its items
			// count.
			if entry.Manager == former && (entry.Subresource == "" || strings.Contains(entry.FieldsV1.String(), "k:{")) {
				left = append(left, "manager of "+kind)
			}
		}
	}
	if objects["ConfigMap"].GetLabels()["made-by"] != "" {
		left = append(left, "label")
	}
	if len(objects["Service"].(*corev1.Service).Spec.Ports) > 1 {
		left = append(left, "port")
	}
	if len(objects["Deployment"].(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Env) > 0 {
		left = append(left, "variable")
	}
	if meta.FindStatusCondition(objects["Website"].(*v1.Website).Status.Conditions, "Available") != nil {
		left = append(left, "condition")
	}
	return left, nil
}

// identities returns the UIDs of the objects, with versions also their resource versions.
func (w *fixture) identities(versions bool) map[string]string {
	w.Helper()
	objects, err := w.objects()
	if err != nil {
		w.Fatal(err)
	}
	found := map[string]string{}
	for kind, object := range objects {
		found[kind] = string(object.GetUID())
		if versions {
			found[kind] += " " + object.GetResourceVersion()
		}
	}
	return found
}

// madeByHand waits until the old operator has written all its fields.
func (w *fixture) madeByHand() {
	w.Helper()
	w.eventually("the old operator", func() error {
		left, err := w.left()
		if err == nil && len(left) < 8 { // four field managers, a label, a port, a variable and a condition
			err = fmt.Errorf("only %v", left)
		}
		return err
	})
}

// takenOver waits until nothing of the old operator remains.
func (w *fixture) takenOver() {
	w.Helper()
	w.eventually("the new operator", func() error {
		left, err := w.left()
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left: %v", left)
		}
		return err
	})
}

// TestMigration checks that the new operator adopts the objects of the old one, recreates none, and removes the old
// managed fields and names. A restart writes nothing. After a rollback the old operator works again, and the new one can
// take over again.
func TestMigration(t *testing.T) {
	env.Require(t)
	w := &fixture{T: t, Client: env.Client(), site: &v1.Website{
		ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace(t), Name: "corner"}, Spec: v1.WebsiteSpec{Text: "hello"},
	}}
	if err := w.Create(t.Context(), w.site); err != nil {
		t.Fatal(err)
	}
	stop := w.run(setUpBefore)
	w.madeByHand()
	stop()
	made := w.identities(false)

	w.sent.Reset()
	stop = w.run(setUpAfter)
	w.takenOver()
	stop()
	got := map[string]int{}
	for request, times := range w.sent.Snapshot().Writes().Counts() {
		if request.Resource != "events" {
			got[strings.TrimSuffix(request.Verb+" "+request.Resource+" "+request.Subresource, " ")] = times
		}
	}
	if diff := cmp.Diff(map[string]int{
		"patch configmaps": 1, "apply configmaps": 1, "patch services": 1, "apply services": 1, "patch deployments": 1, "apply deployments": 1,
		"patch websites": 1, "patch websites status": 1,
	}, got); diff != "" {
		t.Errorf("writes of the first start (-want +got):\n%s", diff)
	}

	settled := w.identities(true)
	stop = w.run(setUpAfter)
	w.changed("a restart", "again")
	stop()
	restarted := w.identities(true)
	for _, kind := range []string{"Service", "Deployment"} {
		if settled[kind] != restarted[kind] {
			t.Errorf("%s was written after the restart", kind)
		}
	}

	stop = w.run(setUpBefore)
	w.changed("a rollback", "back")
	w.madeByHand()
	stop()

	w.run(setUpAfter)
	w.takenOver()
	w.changed("the second time", "forth")
	if diff := cmp.Diff(made, w.identities(false)); diff != "" {
		t.Errorf("an object was recreated (-before +after):\n%s", diff)
	}
}

// changed changes the text and waits until the ConfigMap has it.
func (w *fixture) changed(what, text string) {
	w.Helper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"text":%q}}`, text))
	if err := w.Patch(w.Context(), w.site.DeepCopy(), patch); err != nil {
		w.Fatal(err)
	}
	w.eventually(what, func() error {
		objects, err := w.objects()
		if err == nil && objects["ConfigMap"].(*corev1.ConfigMap).Data["index.html"] != text {
			err = errors.New("the text is missing")
		}
		return err
	})
}
