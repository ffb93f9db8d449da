// Package dashboard reconciles GrafanaDashboard.
package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/grafana/remote"
)

type (
	rcontext  = reconcile.ReconcileContext[*v1beta1.GrafanaDashboard]
	resources = remote.Resources[dashboard, stored]
	model     = map[string]any
)

// dashboard is the desired dashboard.
type dashboard struct {
	Model     model
	FolderUID string
}

// stored is a dashboard in the HTTP API.
type stored struct {
	Dashboard model `json:"dashboard"`
	Meta      struct {
		FolderUID string `json:"folderUid"`
	} `json:"meta"`
}

// observed contains the model, its folder and the selected instances.
type observed struct {
	instances remote.Instances
	config    reconcile.FetchResult[*corev1.ConfigMap]
	folder    reconcile.FetchResult[*v1beta1.GrafanaFolder]

	uid       string
	dashboard dashboard
	err       error // of the model
}

type reconciler struct{ dashboards *resources }

var (
	_ reconcile.Reconciler[*v1beta1.GrafanaDashboard, observed, observed]                            = reconciler{}
	_ reconcile.ApplyObserver[*v1beta1.GrafanaDashboard, observed]                                   = reconciler{}
	_ reconcile.StatusDecorator[v1beta1.GrafanaDashboardStatus, *v1beta1.GrafanaDashboard, observed] = reconciler{}
)

// Controller declares the kinds that the reconciler reads and writes.
func Controller(client *http.Client) *controller.Controller {
	dashboards := remote.NewResources(remote.API[dashboard, stored]{Kind: "Dashboard", Path: "/api/dashboards/uid/", Put: put, Same: same}, client)
	return controller.New("grafanadashboard", reconciler{dashboards}).
		Reads(&v1beta1.Grafana{}).Reads(&corev1.Secret{}).Reads(&v1beta1.GrafanaFolder{}).Reads(&corev1.ConfigMap{}).
		External(dashboards).Prepare(dashboards.Prepare).Build()
}

// put creates or replaces the dashboard.
func put(ctx context.Context, c remote.Client, _ string, spec dashboard) error {
	return c.Call(ctx, http.MethodPost, "/api/dashboards/db",
		map[string]any{"dashboard": spec.Model, "folderUid": spec.FolderUID, "overwrite": true}, nil)
}

// same compares all fields except those that Grafana sets.
func same(spec dashboard, observed stored) bool {
	return spec.FolderUID == observed.Meta.FolderUID && equality.Semantic.DeepEqual(spec.Model, clean(observed.Dashboard))
}

// clean returns a model without the fields that Grafana sets, and without the declarations of inputs.
func clean(m model) model {
	m = maps.Clone(m)
	for _, of := range []string{"id", "version", "__inputs"} {
		delete(m, of)
	}
	return m
}

// FetchRemoteState reads the model, its folder, the selected instances and the dashboard in them.
func (d reconciler) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc rcontext) (o observed) {
	spec, text := rc.Object.Spec, rc.Object.Spec.JSON
	at := func(name string) client.ObjectKey {
		return client.ObjectKey{Namespace: rc.Object.Namespace, Name: name}
	}
	o.dashboard.FolderUID = spec.FolderUID
	if spec.FolderRef != "" {
		if o.folder = reconcile.Fetch(ctx, r, at(spec.FolderRef), &v1beta1.GrafanaFolder{}); o.folder.OK() {
			o.dashboard.FolderUID = o.folder.Value.FolderUID()
		}
	}
	if ref := spec.ConfigMapRef; ref != nil {
		if o.config = reconcile.Fetch(ctx, r, at(ref.Name), &corev1.ConfigMap{}); o.config.OK() {
			text = o.config.Value.Data[ref.Key]
		}
	}
	o.instances = remote.Select(ctx, r, rc.Object.Namespace, spec.GrafanaCommonSpec)
	if o.config.HasError() {
		return o
	}
	if o.dashboard.Model, o.err = parse(text, spec.Datasources); o.err == nil {
		o.uid, _ = o.dashboard.Model["uid"].(string)
		o.uid = cmp.Or(spec.UID, o.uid, string(rc.Object.UID))
		o.dashboard.Model["uid"] = o.uid
		d.dashboards.Observe(ctx, r, o.instances, o.uid)
	}
	return o
}

// parse parses a model and replaces its inputs.
func parse(text string, inputs []v1beta1.GrafanaDashboardDatasource) (m model, _ error) {
	for _, input := range inputs {
		text = strings.ReplaceAll(text, "${"+input.InputName+"}", input.DatasourceName)
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return nil, health.NewError(health.InvalidSpec, "InvalidModel", fmt.Sprintf("the model of the dashboard is not a JSON object: %v", err), nil)
	}
	if m == nil {
		return nil, health.NewError(health.InvalidSpec, "InvalidModel", "the model of the dashboard is null, want a JSON object", nil)
	}
	return clean(m), nil
}

// GetComponentHealth reports what the dashboard depends on.
func (o observed) GetComponentHealth(context.Context) []health.Component {
	components := []health.Component{o.instances.Health(), {Name: "Model", Errors: []error{o.err, o.config.Failure()}}}
	if o.config.IsNotFound() {
		components = append(components, o.config.Upstream("Model", nil))
	}
	if o.folder != (reconcile.FetchResult[*v1beta1.GrafanaFolder]{}) {
		components = append(components, o.folder.Upstream("Folder", inspectFolder))
	}
	return components
}

// inspectFolder reports a folder that is not in Grafana yet.
func inspectFolder(folder *v1beta1.GrafanaFolder) health.Component {
	if folder != nil && !meta.IsStatusConditionTrue(folder.Status.Conditions, v1beta1.FolderSynchronized) {
		return health.Component{State: health.Pending, Reason: "FolderNotSynchronized", Message: "GrafanaFolder " + folder.Name + " is not synchronized"}
	}
	return health.Component{}
}

// PlanResources plans the dashboard in each instance.
func (d reconciler) PlanResources(_ context.Context, rc rcontext, o observed) (plan reconcile.PlanResult, _ error) {
	if o.err != nil || o.config.HasError() {
		return plan, o.err
	}
	d.dashboards.Plan(&plan, o.instances, o.uid, o.dashboard, rc.Object.Spec.GrafanaCommonSpec)
	return plan, nil
}

// ObserveApply takes the results of the instances.
func (d reconciler) ObserveApply(_ context.Context, _ rcontext, o observed, outcome reconcile.ApplyOutcome) observed {
	o.instances = d.dashboards.Applied(o.instances, outcome)
	return o
}

// DecorateStatus reports whether the dashboard is synchronized.
func (reconciler) DecorateStatus(
	status *v1beta1.GrafanaDashboardStatus, cm *conditions.Manager, sc reconcile.StatusContext[*v1beta1.GrafanaDashboard], o observed,
) {
	status.UID = o.uid
	o.instances.Report(cm, sc.Blocked, "Dashboard", v1beta1.DashboardSynchronized)
}
