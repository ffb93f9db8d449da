package tas

import (
	"cmp"
	"context"
	"fmt"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

// Reconciler implements the phases of TrustyAIService. Create its controller with [New].
type Reconciler struct {
	operatorNamespace string
	children          children.Set[facts]
	payloads          *external.Kind[struct{}, bool]
}

type rcontext = reconcile.ReconcileContext[*v1.TrustyAIService]

// Fetched contains the objects that were read for a service.
type Fetched struct {
	config      reconcile.FetchResult[*corev1.ConfigMap]
	authority   reconcile.FetchResult[*corev1.ConfigMap]
	models      reconcile.FetchResult[*foreign.InferenceServiceList]
	meshes      reconcile.FetchResult[*appsv1.DeploymentList] // of ModelMesh
	payloads    map[string]reconcile.FetchResult[bool]        // whether they send their payloads to the service, by the keys of the edits
	credentials reconcile.FetchResult[*corev1.Secret]
	databaseCA  reconcile.FetchResult[*corev1.Secret]
	volume      reconcile.FetchResult[*corev1.PersistentVolumeClaim]
	deployment  reconcile.FetchResult[*appsv1.Deployment]
	pods        reconcile.FetchResult[*corev1.PodList]
	route       reconcile.FetchResult[*foreign.Route]
}

// FetchRemoteState reads the inputs of the plan and of the status.
func (r *Reconciler) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc rcontext) (f Fetched) {
	s := rc.Object
	if !s.DeletionTimestamp.IsZero() {
		return f
	}
	in, named := client.InNamespace(s.Namespace), func(name string) client.ObjectKey {
		return client.ObjectKey{Namespace: s.Namespace, Name: name}
	}
	f.config = reconcile.Fetch(ctx, reader, client.ObjectKey{Namespace: r.operatorNamespace, Name: images.ConfigMap}, &corev1.ConfigMap{})
	f.authority = reconcile.Fetch(ctx, reader, named(trustedCA), &corev1.ConfigMap{})
	f.models = reconcile.FetchList(ctx, reader, &foreign.InferenceServiceList{}, in)
	f.meshes = reconcile.FetchList(ctx, reader, &appsv1.DeploymentList{}, in, client.MatchingLabels{"modelmesh-service": "modelmesh-serving"})
	if f.meshes.Value != nil {
		f.payloads = map[string]reconcile.FetchResult[bool]{}
		for i := range f.meshes.Value.Items {
			key := external.EditKey(&f.meshes.Value.Items[i], s.Name)
			f.payloads[key] = r.payloads.Observe(ctx, reader, key)
		}
	}
	if s.Spec.Storage.Format == v1.FormatDatabase {
		f.credentials = reconcile.Fetch(ctx, reader, named(credentialsOf(s)), &corev1.Secret{})
		f.databaseCA = reconcile.Fetch(ctx, reader, named(s.Name+"-db-ca"), &corev1.Secret{})
	}
	if needsVolume(&s.Spec) {
		f.volume = reconcile.Fetch(ctx, reader, named(s.Name+"-pvc"), &corev1.PersistentVolumeClaim{})
	}
	f.deployment = reconcile.Fetch(ctx, reader, named(s.Name), &appsv1.Deployment{})
	f.pods = reconcile.FetchList(ctx, reader, &corev1.PodList{}, in, client.MatchingLabels{"app": s.Name})
	f.route = reconcile.Fetch(ctx, reader, named(s.Name), &foreign.Route{})
	return f
}

func needsVolume(spec *v1.TrustyAIServiceSpec) bool {
	return spec.Storage.Format == v1.FormatPVC || spec.Migrates()
}

func credentialsOf(s *v1.TrustyAIService) string {
	return cmp.Or(s.Spec.Storage.DatabaseConfigurations, s.Name+"-db-credentials")
}

// Observation is derived from Fetched.
type Observation struct {
	service *v1.TrustyAIService
	fetched Fetched
	facts   facts
	models  models
	// unset is why there are no images.
	unset error
	// badVolume is the error in the volume; badDatabase has the reason and the message of unusable credentials.
	badVolume   string
	badDatabase [2]string
}

// GetComponentHealth returns no components: the status has only the conditions of the product, see DecorateStatus.
func (Observation) GetComponentHealth(context.Context) []health.Component { return nil }

// ComposeState derives the observation.
func (r *Reconciler) ComposeState(_ context.Context, rc rcontext, f Fetched) Observation {
	s := rc.Object
	obs := Observation{service: s, fetched: f, models: observe(s, f)}
	found, err := images.Resolve(f.config, images.Service, images.Proxy)
	obs.unset = err
	if _, err := resource.ParseQuantity(s.Spec.Storage.Size); err != nil && needsVolume(&s.Spec) {
		obs.badVolume = fmt.Sprintf("spec.storage.size: %q is not a quantity such as 1Gi", s.Spec.Storage.Size)
	}
	if s.Spec.Storage.Format == v1.FormatDatabase {
		obs.badDatabase = database(f.credentials)
	}
	obs.facts = facts{
		Name: s.Name, Namespace: s.Namespace, OperatorNamespace: r.operatorNamespace, Version: version, Spec: &s.Spec, images: found,
		credentials: credentialsOf(s), databaseCA: f.databaseCA.OK() && f.databaseCA.Value != nil,
		authority:   f.authority.Value != nil && f.authority.Value.Labels["config.openshift.io/inject-trusted-cabundle"] == "true",
		Provisioned: obs.badVolume == "" && obs.badDatabase[0] == "",
		InMesh:      obs.models.inMesh,
	}
	return obs
}

// databaseKeys are the required keys of the Secret.
var databaseKeys = []string{"databaseKind", "databaseUsername", "databasePassword", "databaseService", "databasePort", "databaseName"}

// database returns the reason and the message if the Secret does not configure a database.
func database(secret reconcile.FetchResult[*corev1.Secret]) [2]string {
	if secret.Value == nil {
		return [2]string{"DBCredentialsNotFound", "Database credentials not found"}
	}
	for _, key := range databaseKeys {
		if len(secret.Value.Data[key]) == 0 {
			return [2]string{"DBCredentialsError", "Error with database credentials"}
		}
	}
	return [2]string{}
}

// migration is an annotation that requests a new Deployment for another storage. The Deployment follows the spec in any case, so the
// annotation is removed when there is one.
const migration = "trustyai.opendatahub.io/db-migration"

// PlanResources returns the children, and the contributions to the models.
func (r *Reconciler) PlanResources(_ context.Context, _ rcontext, obs Observation) (reconcile.PlanResult, error) {
	if obs.unset != nil {
		return reconcile.PlanResult{}, obs.unset
	}
	plan, err := r.children.Plan(obs.facts)
	if err != nil {
		return plan, err
	}
	obs.volume(&plan)
	if obs.facts.Provisioned {
		all, err := r.children.Manifests.Render("monitor-all.yaml", obs.facts)
		if err != nil {
			return plan, err
		}
		plan.Apply(all, apply.Shared, apply.AdoptUncontrolled)
	}
	if _, asked := obs.service.Annotations[migration]; asked && obs.facts.Provisioned && obs.fetched.deployment.Value != nil {
		plan.Metadata(metav1.ObjectMeta{}, apply.Absent(`metadata.annotations["`+migration+`"]`))
	}
	for _, contribution := range obs.models.contributions {
		plan.Contribute(contribution)
	}
	for _, key := range obs.models.edits {
		r.payloads.Ensure(&plan, key, struct{}{})
	}
	return plan, nil
}

// volume plans the volume. It stays until the service is deleted, also when the data moves into a database.
func (obs Observation) volume(plan *reconcile.PlanResult) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: obs.service.Namespace, Name: obs.service.Name + "-pvc"}}
	if !needsVolume(&obs.service.Spec) || obs.badVolume != "" {
		plan.Keep(claim)
		return
	}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(obs.facts.Spec.Storage.Size)}
	plan.Apply(claim, apply.Once, apply.AdoptUncontrolled)
}
