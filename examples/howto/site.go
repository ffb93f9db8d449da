package howto

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/runonce"
	"github.com/reconcilekit/reconcilekit/reconcile/secrets"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
)

// most is the maximum length of a page.
const most = 1 << 10

// announcement sends a text to subscribers once.
var announcement = runonce.Run[*batchv1.Job]{Annotation: "website.example.com/announced"}

type rcontext = reconcile.ReconcileContext[*v1.Website]

// observed is the observed state of a website.
type observed struct {
	site      *v1.Website
	account   reconcile.FetchResult[map[string][]byte]
	volume    reconcile.FetchResult[*corev1.PersistentVolumeClaim]
	announced reconcile.FetchResult[*batchv1.Job]
	backup    reconcile.FetchResult[*batchv1.Job]
	home      reconcile.FetchResult[*corev1.Namespace]
}

type reconciler struct{}

var (
	_ reconcile.Reconciler[*v1.Website, observed, observed] = reconciler{}
	_ reconcile.Finalizer[*v1.Website, observed]            = reconciler{}
)

// websites declares the controller.
func websites() *controller.Controller {
	return controller.New("website", reconciler{}).
		Owns(&corev1.Secret{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.PersistentVolumeClaim{}).
		Owns(&batchv1.Job{}).
		Reads(&corev1.Namespace{}).
		Options(controller.Options{Finalizer: "website.example.com/backup", InspectChildren: true}).Build()
}

// FetchRemoteState reads the account (with a new password if there is none), the volume, and the backup of a website that is being
// deleted.
func (reconciler) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc rcontext) (o observed) {
	o.site = rc.Object
	o.account = secrets.Fetch(ctx, r, named(rc.Object, "account"), secrets.Keys{
		"username": secrets.Literal("editor"),
		"password": secrets.Random(24),
	})
	o.volume = reconcile.Fetch(ctx, r, named(rc.Object, "data"), &corev1.PersistentVolumeClaim{})
	o.announced = reconcile.Fetch(ctx, r, named(rc.Object, "announcement"), &batchv1.Job{})
	if !rc.Object.DeletionTimestamp.IsZero() {
		o.backup = reconcile.Fetch(ctx, r, named(rc.Object, "backup"), &batchv1.Job{})
		o.home = reconcile.Fetch(ctx, r, types.NamespacedName{Name: rc.Object.Namespace}, &corev1.Namespace{})
	}
	return o
}

// GetComponentHealth returns the health of the account and of the announcement, in addition to that of the children.
func (o observed) GetComponentHealth(context.Context) []health.Component {
	return []health.Component{
		o.account.Upstream("Account", nil),
		announcement.Health("Announcement", o.site, o.announced, announcementKey(o.site)),
	}
}

// PlanResources lists the desired objects.
func (reconciler) PlanResources(_ context.Context, rc rcontext, o observed) (plan reconcile.PlanResult, err error) {
	site := rc.Object
	if n := len(site.Spec.Text); n > most {
		return plan, health.NewError(health.InvalidSpec, "TextTooLong",
			fmt.Sprintf("spec.text has %d bytes, want at most %d", n, most), nil)
	}
	if o.account.OK() {
		plan.Apply(&corev1.Secret{ObjectMeta: meta(site, "account"), Data: o.account.Value}, secrets.Rules(o.account.Value))
	} else {
		plan.Keep(&corev1.Secret{ObjectMeta: meta(site, "account")})
	}

	plan.Apply(&corev1.ConfigMap{ObjectMeta: meta(site, "text"), Data: map[string]string{"index.html": site.Spec.Text}},
		apply.AdoptUncontrolled)

	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	plan.Apply(&corev1.PersistentVolumeClaim{ObjectMeta: meta(site, "data"), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: size},
	}}, apply.CreateOnly("spec"), apply.Retained)

	bound := o.volume.Value != nil && o.volume.Value.Status.Phase == corev1.ClaimBound
	plan.Apply(job(site, "import", site.Spec.Text), apply.Recreate(), apply.WaitUntil(bound, "the volume is bound"))
	announce(&plan, site, o.announced)
	return plan, nil
}

// announce plans the Job that sends the text to subscribers.
func announce(plan *reconcile.PlanResult, site *v1.Website, announced reconcile.FetchResult[*batchv1.Job]) {
	announcement.Plan(plan, site, announced, announcementKey(site), job(site, "announcement", site.Spec.Text))
}

// announcementKey returns the key of the announcement: another text is announced again.
func announcementKey(site *v1.Website) string {
	text := sha256.Sum256([]byte(site.Spec.Text))
	return hex.EncodeToString(text[:8])
}

// Finalize runs a backup before the website is deleted. In a namespace that is being deleted nothing can be created.
func (reconciler) Finalize(_ context.Context, rc rcontext, o observed) (plan reconcile.PlanResult, err error) {
	if err := errors.Join(o.backup.Failure(), o.home.Failure()); err != nil {
		return plan, err
	}
	if o.home.Value == nil || !o.home.Value.DeletionTimestamp.IsZero() {
		return plan, nil
	}
	plan.Apply(job(rc.Object, "backup", "last"), apply.Once)
	plan.KeepKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"))
	plan.Hold = o.backup.Value == nil || o.backup.Value.Status.Succeeded == 0
	return plan, nil
}

// job returns a Job that runs a command once.
func job(site *v1.Website, name, argument string) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: meta(site, name), Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: name, Image: "registry.example.com/site-tools:1", Args: []string{name, argument}}},
	}}}}
}

func named(site *v1.Website, suffix string) types.NamespacedName {
	return types.NamespacedName{Namespace: site.Namespace, Name: site.Name + "-" + suffix}
}

func meta(site *v1.Website, suffix string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name + "-" + suffix}
}
