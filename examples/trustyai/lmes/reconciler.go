package lmes

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/cabundle"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

// Reconciler implements the phases of LMEvalJob. Create its controller with [New].
type Reconciler struct {
	settings types.NamespacedName
	managed  bool // by the job manager
	drivers  *external.Kind[struct{}, progress]
}

type rcontext = reconcile.ReconcileContext[*v1alpha1.LMEvalJob]

// Fetched contains the objects that were read for a job.
type Fetched struct {
	config, platform reconcile.FetchResult[*corev1.ConfigMap]
	authorities      cabundle.Found
	claim            reconcile.FetchResult[*corev1.PersistentVolumeClaim]
	pod              reconcile.FetchResult[*corev1.Pod]
	driver           reconcile.FetchResult[progress]
}

// FetchRemoteState reads the pod, the settings of the operator, and the inputs of the pod.
func (r Reconciler) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc rcontext) (f Fetched) {
	job := rc.Object
	named := func(namespace, name string) client.ObjectKey {
		return client.ObjectKey{Namespace: namespace, Name: name}
	}
	f.pod = reconcile.Fetch(ctx, reader, named(job.Namespace, job.Name), &corev1.Pod{})
	if !job.DeletionTimestamp.IsZero() {
		return f
	}
	if seen, _ := stateOfPod(job, f.pod.Value, progress{}); seen == running && positionOf(job, r.managed) == scheduled {
		f.driver = r.drivers.Observe(ctx, reader, keyOf(f.pod.Value))
	}
	f.config = reconcile.Fetch(ctx, reader, r.settings, &corev1.ConfigMap{})
	f.platform = reconcile.Fetch(ctx, reader, named(r.settings.Namespace, "trustyai-dsc-config"), &corev1.ConfigMap{})
	if verifies(&job.Spec) {
		f.authorities = cabundle.Fetch(ctx, reader, job.Namespace)
	}
	if claim := claimOf(job); claim != "" && claim != managedClaim(job) {
		f.claim = reconcile.Fetch(ctx, reader, named(job.Namespace, claim), &corev1.PersistentVolumeClaim{})
	}
	return f
}

// failure returns the first failed read. A missing object is not a failure.
func (f Fetched) failure() error {
	all := []error{f.pod.Failure(), f.config.Failure(), f.platform.Failure(), f.claim.Failure()}
	for _, found := range f.authorities {
		all = append(all, found.Failure())
	}
	return cmp.Or(all...)
}

// Observation contains the action of this reconciliation, and the resulting status.
type Observation struct {
	job      *v1alpha1.LMEvalJob
	fetched  Fetched
	settings settings
	images   map[string]string
	bundle   string // CA certificates
	err      error  // why nothing is done
	action   action
	status   v1alpha1.LMEvalJobStatus
	now      metav1.Time
	attached bool   // the job has the finalizer already
	refused  bool   // the job has failed without a queue, and has no pod
	queued   string // the workload of the job in the queue
}

// GetComponentHealth returns no components: the status has only the conditions of the product, see DecorateStatus.
func (Observation) GetComponentHealth(context.Context) []health.Component { return nil }

// ComposeState selects the action.
func (r Reconciler) ComposeState(_ context.Context, rc rcontext, f Fetched) Observation {
	job := rc.Object
	obs := Observation{
		job: job, fetched: f, status: *job.Status.DeepCopy(), now: metav1.NewTime(rc.Now), bundle: f.authorities.Merge(),
		attached: slices.Contains(job.Finalizers, Finalizer),
	}
	if obs.err = f.failure(); obs.err != nil {
		return obs
	}
	obs.settings = settingsOf(f.config, f.platform)
	seen, problem := stateOfPod(job, f.pod.Value, f.driver.Value)
	at := positionOf(job, r.managed)
	obs.act(transitions.Action(at, seen), problem)
	pod := f.pod.Value
	obs.refused = (at == unqueued || at == complete && job.Status.Message == noQueue) && (pod == nil || !metav1.IsControlledBy(pod, job))
	if r.managed && !obs.refused && obs.status.State != v1alpha1.JobComplete {
		obs.queued = workloadName(job)
	}
	return obs
}

// PlanResources plans the pod once for a generation of the spec. In other reconciliations the pod stays as it is, or is deleted.
func (r Reconciler) PlanResources(_ context.Context, _ rcontext, obs Observation) (plan reconcile.PlanResult, err error) {
	if obs.err != nil {
		return plan, obs.err
	}
	job := obs.job
	if obs.refused {
		plan.Policy = apply.Suspend
		return plan, nil
	}
	plan.Hold = true
	last := generationOf(job)
	if last == 0 || obs.action == record {
		last = job.Generation
	}
	plan.Metadata(metav1.ObjectMeta{Annotations: map[string]string{generation: strconv.FormatInt(last, 10)}},
		apply.Force(`metadata.annotations["`+generation+`"]`))
	obs.planClaim(&plan)
	obs.planBundle(&plan)
	if r.managed {
		obs.planWorkload(&plan)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
	switch {
	case obs.action == create:
		plan.Apply(podOf{job, obs.settings, obs.images[images.Evaluation], obs.images[images.Driver], obs.bundle != ""}.build(), apply.Once)
	case obs.deletes():
		if seen := obs.fetched.pod.Value; seen != nil && metav1.IsControlledBy(seen, job) {
			plan.Delete(seen)
		}
	default:
		plan.Keep(pod)
	}
	switch obs.action { //nolint:exhaustive // the others wait for events
	case follow:
		plan.RequeueAfter = obs.settings.interval
	case finish, dismiss:
		r.drivers.Once(&plan, keyOf(obs.fetched.pod.Value), struct{}{})
	case restart:
		plan.RequeueAfter = -1 // this reconciliation stores that no generation was scheduled
	case create:
		if obs.fetched.pod.Value != nil { // the pod exists but its status was lost: it may cause no further event
			plan.RequeueAfter = -1
		}
	}
	return plan, nil
}

// deletes reports whether the pod is deleted: by this action, or because the status of the job does not allow a pod.
func (obs Observation) deletes() bool {
	switch obs.action { //nolint:exhaustive // the other actions keep it
	case discard, stop, restart, refuse, cancel:
		return true
	case rest, dismiss:
		return obs.status.Reason == v1alpha1.JobCancelledReason || obs.status.Message == noQueue
	}
	return false
}

// planClaim plans the claim of the results, which exists until the job is deleted.
func (obs Observation) planClaim(plan *reconcile.PlanResult) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: obs.job.Namespace, Name: managedClaim(obs.job)}}
	if obs.job.Spec.Outputs == nil || obs.job.Spec.Outputs.PVCManaged == nil {
		plan.Keep(claim)
		return
	}
	size, err := resource.ParseQuantity(obs.job.Spec.Outputs.PVCManaged.Size)
	if err != nil {
		plan.Keep(claim) // the validation refuses the spec
		return
	}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: size}
	plan.Apply(claim, apply.Once, apply.AdoptUncontrolled)
}

// planBundle plans the certificates for a new pod. They do not change for an existing pod.
func (obs Observation) planBundle(plan *reconcile.PlanResult) {
	bundle := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: obs.job.Namespace, Name: bundleName(obs.job)}}
	if obs.action != create || obs.bundle == "" {
		plan.Keep(bundle)
		return
	}
	bundle.Data = map[string]string{bundleKey: obs.bundle}
	plan.Apply(bundle, apply.AdoptUncontrolled)
}

// Finalize deletes the pod.
func (r Reconciler) Finalize(_ context.Context, rc rcontext, f Fetched) (plan reconcile.PlanResult, err error) {
	if err := f.pod.Failure(); err != nil {
		return plan, err
	}
	if pod := f.pod.Value; pod != nil && metav1.IsControlledBy(pod, rc.Object) {
		plan.Delete(pod)
	}
	return plan, nil
}
