package runtimes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	live "github.com/reconcilekit/reconcilekit/reconcile/settings"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kserve "github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/predictor"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// fetched contains the inputs of the runtimes of a namespace.
type fetched struct {
	namespace  string
	config     settings.Config
	now        time.Time
	members    []controller.Member
	namespaced []kserve.ServingRuntime // valid members of the group
	runtimes   []Runtime               // effective runtimes, by name; empty if the namespace is not enabled
	predictors []v1alpha1.Predictor
	etcd, tls  reconcile.FetchResult[*corev1.Secret]
	storage    reconcile.FetchResult[*corev1.Secret]
	current    map[string]*appsv1.Deployment // by name
	claims     map[string]bool               // existing claims
	missing    map[string]error              // ConfigMaps that runtimes name, by runtime
	problem    error                         // errors of required reads
}

const noEtcd = "Could not get the controller etcd secret" // as the product has it

// FetchRemoteState implements reconcile.Reconciler.
func (r *Reconciler) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc rcontext) *fetched {
	f := &fetched{
		namespace: rc.Object.Namespace, now: rc.Now,
		config:  live.Read(r.config, rc.Request, func(c settings.Config) settings.Config { return c }),
		current: map[string]*appsv1.Deployment{}, claims: map[string]bool{}, missing: map[string]error{},
	}
	enabled, namespace, err := r.env.FetchEnabled(ctx, reader, f.namespace)
	if f.problem = err; !enabled {
		return f
	}
	if namespace != nil { // read also before there is a runtime
		f.members = append(f.members, controller.MemberOf(namespace, nil))
	}
	f.fetchRuntimes(ctx, reader, rc.Object, r.env.ClusterRuntimes)
	if len(f.runtimes) == 0 {
		return f
	}
	if etcd := r.env.EtcdSecretName(f.config); f.namespace != r.env.Namespace {
		f.etcd = reconcile.Fetch(ctx, reader, types.NamespacedName{Namespace: r.env.Namespace, Name: etcd}, &corev1.Secret{})
		if f.etcd.IsNotFound() {
			f.etcd.Error = health.NewError(health.MissingUpstreamDependency, "EtcdSecretMissing",
				fmt.Sprintf("%s: Secret %s/%s does not exist", noEtcd, r.env.Namespace, etcd), nil)
		}
	}
	if f.config.TLS.SecretName != "" {
		f.tls = reconcile.Fetch(ctx, reader, f.key(f.config.TLS.SecretName), &corev1.Secret{})
	}
	f.storage = reconcile.Fetch(ctx, reader, f.key(f.config.StorageSecretName), &corev1.Secret{})
	f.fetchModels(ctx, reader, r.env.Services)
	f.fetchWorkloads(ctx, reader)
	return f
}

// fetchModels reads the models of Predictors, and of InferenceServices converted to Predictors. A model that cannot be served
// requests no runtime.
func (f *fetched) fetchModels(ctx context.Context, reader reconcile.Reader, services bool) {
	predictors := reconcile.FetchList(ctx, reader, &v1alpha1.PredictorList{}, client.InNamespace(f.namespace))
	f.problem = errors.Join(f.problem, f.storage.Failure(), predictors.Error)
	if predictors.Value != nil {
		f.predictors = slices.Clone(predictors.Value.Items)
	}
	if !services {
		return
	}
	list := reconcile.FetchList(ctx, reader, &v1beta1.InferenceServiceList{}, client.InNamespace(f.namespace))
	f.problem = errors.Join(f.problem, list.Error)
	if list.Value == nil {
		return
	}
	for i := range list.Value.Items {
		if spec, err := predictor.SpecOf(&list.Value.Items[i]); err == nil && spec != nil {
			f.predictors = append(f.predictors, v1alpha1.Predictor{ObjectMeta: list.Value.Items[i].ObjectMeta, Spec: *spec})
		}
	}
}

func (f *fetched) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: f.namespace, Name: name}
}

// fetchRuntimes reads the effective runtimes of the namespace: its own hide those of the cluster, also if they do not belong to
// ModelMesh.
func (f *fetched) fetchRuntimes(ctx context.Context, reader reconcile.Reader, group *controller.Group, cluster bool) {
	byName := map[string]Runtime{}
	if cluster {
		list := reconcile.FetchList(ctx, reader, &kserve.ClusterServingRuntimeList{})
		if f.problem = errors.Join(f.problem, list.Error); list.Value == nil {
			return
		}
		for i := range list.Value.Items {
			if item := &list.Value.Items[i]; item.DeletionTimestamp.IsZero() && ptr.Deref(item.Spec.MultiModel, false) {
				byName[item.Name] = runtimeOf(item, "ClusterServingRuntime", item.Spec)
			}
		}
	}
	members := controller.FetchMembers[*kserve.ServingRuntime](ctx, reader, group, &kserve.ServingRuntimeList{}, nil)
	f.problem = errors.Join(f.problem, members.Error)
	for _, item := range members.Valid {
		f.namespaced = append(f.namespaced, *item)
		byName[item.Name] = runtimeOf(item, "ServingRuntime", item.Spec)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		f.runtimes = append(f.runtimes, byName[name])
	}
}

func runtimeOf(o client.Object, kind string, spec kserve.ServingRuntimeSpec) Runtime {
	return Runtime{
		Name: o.GetName(), Annotations: o.GetAnnotations(), Spec: spec,
		Owner: []metav1.OwnerReference{*metav1.NewControllerRef(o, kserve.GroupVersion.WithKind(kind))},
	}
}

// productConfig is an annotation of a runtime. It names a ConfigMap that must exist.
const productConfig = "productConfig"

// fetchWorkloads reads the children of the runtimes, and the claims that models may use.
func (f *fetched) fetchWorkloads(ctx context.Context, reader reconcile.Reader) {
	for i := range f.runtimes {
		r := &f.runtimes[i]
		if !r.served() {
			continue
		}
		name := f.config.InferenceServiceName + "-" + r.Name
		current := reconcile.Fetch(ctx, reader, f.key(name), &appsv1.Deployment{})
		f.problem = errors.Join(f.problem, current.Failure())
		f.current[name] = current.Value
		if config, found := r.Annotations[productConfig]; found {
			f.missing[r.Name] = reconcile.Fetch(ctx, reader, f.key(config), &corev1.ConfigMap{}).Error
		}
	}
	if !f.config.AllowAnyPVC {
		return
	}
	for i := range f.predictors {
		if name := claimOf(&f.predictors[i]); name != "" {
			claim := reconcile.Fetch(ctx, reader, f.key(name), &corev1.PersistentVolumeClaim{})
			f.problem = errors.Join(f.problem, claim.Failure())
			f.claims[name] = claim.Value != nil
		}
	}
}
