package evalhub

import (
	"context"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/cabundle"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

// Reconciler implements the phases of EvalHub. Create its controller with [New].
type Reconciler struct {
	settings types.NamespacedName
	reports  *external.Kind[report, bool]
	tenants  Tenants
}

type rcontext = reconcile.ReconcileContext[*v1.EvalHub]

// Fetched contains the objects that were read for a hub.
type Fetched struct {
	settings        reconcile.FetchResult[*corev1.ConfigMap]
	home            reconcile.FetchResult[*corev1.Namespace]
	account         reconcile.FetchResult[*corev1.ServiceAccount] // of the server
	alike           reconcile.FetchResult[*v1.EvalHubList]        // hubs of the same pair, including this one
	catalogues      map[string]catalogue                          // by kind
	authorities     cabundle.Found
	userBundle      reconcile.FetchResult[*corev1.ConfigMap]
	deployment, mcp reconcile.FetchResult[*appsv1.Deployment]
	runs            []run
}

// FetchRemoteState reads the inputs of the plan and of the status.
func (r Reconciler) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc rcontext) (f Fetched) {
	hub := rc.Object
	if !hub.DeletionTimestamp.IsZero() {
		return f
	}
	named := func(name string) client.ObjectKey { return client.ObjectKey{Namespace: hub.Namespace, Name: name} }
	f.settings = reconcile.Fetch(ctx, reader, r.settings, &corev1.ConfigMap{})
	f.home = reconcile.Fetch(ctx, reader, client.ObjectKey{Name: hub.Namespace}, &corev1.Namespace{})
	f.account = reconcile.Fetch(ctx, reader, named(accountOf(hub.Name)), &corev1.ServiceAccount{})
	f.alike = reconcile.FetchList(ctx, reader, &v1.EvalHubList{}, client.MatchingFields{pairIndex: norm(pairOf(hub))})
	f.catalogues = map[string]catalogue{}
	for _, kind := range kinds {
		f.catalogues[kind] = fetchCatalogue(ctx, reader, kind, r.settings.Namespace, hub.Namespace)
	}
	f.authorities = cabundle.Fetch(ctx, reader, hub.Namespace)
	if bundle := bundleOf(hub); bundle != nil {
		f.userBundle = reconcile.Fetch(ctx, reader, named(bundle.Name), &corev1.ConfigMap{})
	}
	f.deployment = reconcile.Fetch(ctx, reader, named(hub.Name), &appsv1.Deployment{})
	f.mcp = reconcile.Fetch(ctx, reader, named(long(hub.Name+mcpSuffix)), &appsv1.Deployment{})
	f.runs = r.fetchRuns(ctx, reader, hub)
	return f
}

func bundleOf(hub *v1.EvalHub) *v1.CABundle {
	if hub.Spec.MLflow == nil || hub.Spec.MLflow.TLS == nil {
		return nil
	}
	return hub.Spec.MLflow.TLS.CABundle
}

// problem is a reason and a message. The zero value is none.
type problem struct{ reason, message string }

// Observation is derived from Fetched.
type Observation struct {
	hub     *v1.EvalHub
	names   names
	fetched Fetched
	op      string // the namespace of the operator
	images  map[string]string
	unset   error   // why there are no images
	refused problem // why nothing is done
	failed  string  // why the server stays as it is
	files   map[string]string
	bundle  string // certificates for MLflow
	// changing reports that a child was changed after the read.
	changing bool
}

// GetComponentHealth returns no components: the status has only the conditions of the product, see DecorateStatus.
func (Observation) GetComponentHealth(context.Context) []health.Component { return nil }

// ComposeState derives the observation.
func (r Reconciler) ComposeState(_ context.Context, rc rcontext, f Fetched) Observation {
	hub := rc.Object
	obs := Observation{hub: hub, fetched: f, op: r.settings.Namespace, files: map[string]string{}, refused: refusal(hub, f.home.Value)}
	obs.names = nameAll([]v1.EvalHub{*hub})[hub.UID]
	if f.alike.Value != nil {
		if found, ok := nameAll(f.alike.Value.Items)[hub.UID]; ok {
			obs.names = found
		}
	}
	obs.images, obs.unset = images.Resolve(f.settings, images.EvalHub, images.Proxy)
	if obs.unset == nil && obs.refused == (problem{}) {
		obs.compose()
	}
	return obs
}

// compose builds the files, or sets the problem.
func (obs *Observation) compose() {
	fail := func(what string, err error) {
		if err != nil && obs.failed == "" {
			obs.failed = "Failed to reconcile " + what + ": " + err.Error()
		}
	}
	var err error
	obs.files["config.yaml"], err = configOf(obs.hub, obs.images[images.EvalHub])
	fail("ConfigMap", err)
	obs.files["auth.yaml"], err = authOf()
	fail("ConfigMap", err)
	obs.bundle, err = obs.merge()
	fail("MLflow CA bundle", err)
	for _, kind := range kinds {
		fail(title(kind)+" ConfigMaps", obs.fetched.catalogues[kind].missing(kind, wanted(obs.hub, kind)))
	}
}

// PlanResources returns the children. Children that cannot be planned now stay as they are.
func (r Reconciler) PlanResources(_ context.Context, rc rcontext, obs Observation) (plan reconcile.PlanResult, err error) {
	if obs.unset != nil {
		return plan, obs.unset
	}
	if obs.refused != (problem{}) {
		plan.Policy, plan.Hold = apply.Suspend, true
		return plan, nil
	}
	r.planReports(&plan, obs, rc.Now)
	rightsOf(&plan, obs.names, obs.hub.Spec.Tenancy, obs.op, owns(obs.hub, obs.fetched.account.Value))
	put := func(child client.Object, broken bool) {
		if broken {
			plan.Keep(child)
		} else {
			plan.Apply(child, apply.AdoptUncontrolled, apply.Recreate())
		}
	}
	put(obs.configMap("-config", obs.files), obs.files["config.yaml"] == "")
	serving := obs.configMap("-service-ca", nil)
	serving.Annotations = map[string]string{injectCA: "true"}
	put(serving, false)
	put(obs.configMap("-mlflow-ca-bundle", map[string]string{bundleKey: obs.bundle}), obs.bundle == "" && bundleOf(obs.hub) != nil)
	for _, kind := range kinds {
		for _, name := range wanted(obs.hub, kind) {
			source := obs.fetched.catalogues[kind].system[name]
			child := obs.configMap("-"+kind+"-"+name, nil)
			if source != nil {
				child.Data, child.BinaryData = source.Data, source.BinaryData
			}
			put(child, source == nil)
		}
	}
	for _, child := range obs.serverObjects() {
		put(child, obs.failed != "")
	}
	if obs.mcpEnabled() {
		children, err := obs.mcpObjects()
		if err != nil {
			return plan, err
		}
		for _, child := range children {
			put(child, obs.failed != "")
		}
	}
	return plan, nil
}

const (
	injectCA  = "service.beta.openshift.io/inject-cabundle"
	bundleKey = "ca-bundle.crt"
)

func (obs Observation) meta(name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: obs.hub.Namespace, Name: name, Labels: labels}
}

func (obs Observation) configMap(suffix string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: obs.meta(long(obs.hub.Name+suffix), obs.names.labels()), Data: data}
}

func (obs Observation) mcpEnabled() bool {
	return obs.hub.Spec.MCP != nil && ptr.Deref(obs.hub.Spec.MCP.Enabled, false)
}

// tenantLabel is on the namespaces of tenants, with any value.
const tenantLabel = "evalhub.trustyai.opendatahub.io/tenant"

func isTenant(namespace client.Object) bool {
	_, has := namespace.GetLabels()[tenantLabel]
	return has && namespace.GetDeletionTimestamp().IsZero()
}

// hubsAnnotation lists the hubs that the namespace of a tenant admits, as in "ml/hub,ml/other". Only an account that may change
// namespaces can set it; the roles edit and admin do not allow that.
const hubsAnnotation = "evalhub.trustyai.opendatahub.io/hubs"

// admits reports whether the namespace belongs to a tenant and admits the hub.
func (t Tenants) admits(namespace, hub client.Object) bool {
	if t.All || !isTenant(namespace) {
		return isTenant(namespace)
	}
	for name := range strings.SplitSeq(namespace.GetAnnotations()[hubsAnnotation], ",") {
		if strings.TrimSpace(name) == hub.GetNamespace()+"/"+hub.GetName() {
			return true
		}
	}
	return false
}

// owns reports whether the account exists and the hub controls it. Permissions are bound to no other account: a user could create an
// account, and act as the hub, before the hub exists.
func owns(hub *v1.EvalHub, account *corev1.ServiceAccount) bool {
	return account != nil && account.DeletionTimestamp.IsZero() && metav1.IsControlledBy(account, hub)
}

const postgresql = "postgresql"

// refusal returns the reason why the hub is not reconciled, if any.
func refusal(hub *v1.EvalHub, home *corev1.Namespace) problem {
	db := hub.Spec.Database
	switch {
	case db == nil || db.Type == "":
		return problem{"DatabaseConfigMissing", "spec.database is required: set spec.database.type to sqlite or postgresql"}
	case db.Type == postgresql && db.Secret == "":
		return problem{"DatabaseConfigInvalid", `spec.database.secret is required when type is "postgresql"`}
	case hub.Spec.Tenancy != v1.SingleTenancy && home != nil && isTenant(home):
		return problem{
			"InvalidPlacement",
			"namespace " + home.Name + " has the label " + tenantLabel + " of tenants: a hub of several tenants must be in another one",
		}
	}
	return problem{}
}

// wanted returns the entries of the catalogue that the hub uses, without duplicates.
func wanted(hub *v1.EvalHub, kind string) []string {
	all := hub.Spec.Providers
	if kind == collection {
		all = hub.Spec.Collections
	}
	var out []string
	for _, name := range all {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
