package tas

import (
	"embed"

	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
)

// Name is the name of the controller, and the field manager of its children.
const Name = "trustyai-service"

// Finalizer is set on every service, because models of other owners send their traffic to it.
const Finalizer = "trustyai.opendatahub.io/finalizer"

//go:embed templates/*.yaml
var templates embed.FS

// New declares the controller of TrustyAIService. The settings of the operator are in its namespace.
func New(scheme *runtime.Scheme, operatorNamespace string) (*controller.Controller, error) {
	parsed, err := manifests.Parse(templates, scheme, "templates/*.yaml")
	edits := &external.Edits[*appsv1.Deployment]{
		FieldManager: Name + ":payloads", New: func() *appsv1.Deployment { return &appsv1.Deployment{} }, Do: addPayloads, Undo: removePayloads,
	}
	payloads := external.New("PayloadProcessor", edits, external.Options{})
	return controller.New(Name, &Reconciler{operatorNamespace, childrenOf(parsed), payloads}).
		External(payloads).
		Owns(&corev1.ServiceAccount{}).Owns(&corev1.Service{}).Owns(&corev1.ConfigMap{}).Owns(&corev1.PersistentVolumeClaim{}).
		Owns(&appsv1.Deployment{}).
		Owns(&rbacv1.ClusterRoleBinding{}).
		Owns(&foreign.Route{}, controller.Optional).
		Owns(&foreign.ServiceMonitor{}, controller.Optional).
		Owns(&foreign.DestinationRule{}, controller.Optional).
		Owns(&foreign.VirtualService{}, controller.Optional).
		Writes(&foreign.InferenceService{}, controller.Optional, controller.FieldsOnly).
		Reads(&foreign.InferenceService{}, controller.Optional).
		Reads(&corev1.Pod{}).
		Reads(&corev1.Secret{}).
		Options(controller.Options{Apply: apply.Options{Finalizer: Finalizer}}).
		Prepare(func(mgr manager.Manager) error { // whose client edits the programs of ModelMesh
			edits.Client, edits.Live = mgr.GetClient(), mgr.GetAPIReader()
			return nil
		}).Build(), err
}

// childrenOf returns all children with a template. All of them follow the spec. The Deployment is recreated if an immutable field
// changes, for example the selector in a new version of the operator. Children of earlier versions of the operator have this service
// as their controller already.
func childrenOf(parsed *manifests.Set) children.Set[facts] {
	adopt := []apply.ChildOption{apply.AdoptUncontrolled}
	return children.Set[facts]{Manifests: parsed, Children: []children.Child[facts]{
		{Template: "serviceaccount.yaml", Options: adopt},
		{Template: "clusterrolebinding.yaml", Options: []apply.ChildOption{apply.AdoptUncontrolled, apply.Recreate()}},
		{Template: "service-tls.yaml", Options: adopt},
		{Template: "proxy-config.yaml", Options: adopt},
		{
			Template: "deployment.yaml", When: provisioned, Off: children.Keep,
			Options: []apply.ChildOption{apply.AdoptUncontrolled, apply.Recreate()},
		},
		{Template: "service.yaml", When: provisioned, Off: children.Keep, Options: adopt},
		{Template: "monitor.yaml", When: provisioned, Off: children.Keep, Options: adopt},
		{Template: "route.yaml", When: provisioned, Off: children.Keep, Options: adopt},
		{Template: "destinationrule.yaml", When: inMesh, Options: adopt},
		{Template: "virtualservice.yaml", When: inMesh, Options: adopt},
	}}
}

func provisioned(f facts) bool { return f.Provisioned }
func inMesh(f facts) bool      { return f.InMesh }
