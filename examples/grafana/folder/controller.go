// Package folder reconciles GrafanaFolder.
package folder

import (
	"cmp"
	"context"
	"net/http"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	corev1 "k8s.io/api/core/v1"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/grafana/remote"
)

type (
	rcontext  = reconcile.ReconcileContext[*v1beta1.GrafanaFolder]
	resources = remote.Resources[folder, folder]
)

// folder is a folder in the HTTP API.
type folder struct {
	UID   string `json:"uid"`
	Title string `json:"title"`
}

// observed contains the selected instances.
type observed struct{ instances remote.Instances }

// GetComponentHealth reports the instances.
func (o observed) GetComponentHealth(context.Context) []health.Component {
	return []health.Component{o.instances.Health()}
}

type reconciler struct{ folders *resources }

var (
	_ reconcile.Reconciler[*v1beta1.GrafanaFolder, observed, observed]                         = reconciler{}
	_ reconcile.ApplyObserver[*v1beta1.GrafanaFolder, observed]                                = reconciler{}
	_ reconcile.StatusDecorator[v1beta1.GrafanaFolderStatus, *v1beta1.GrafanaFolder, observed] = reconciler{}
)

// Controller declares the kinds that the reconciler reads and writes.
func Controller(client *http.Client) *controller.Controller {
	folders := remote.NewResources(remote.API[folder, folder]{
		Kind: "Folder", Path: "/api/folders/", Put: put,
		Same: func(spec, observed folder) bool { return spec.Title == observed.Title },
	}, client)
	return controller.New("grafanafolder", reconciler{folders}).
		Reads(&v1beta1.Grafana{}).Reads(&corev1.Secret{}).External(folders).Prepare(folders.Prepare).Build()
}

// put renames the folder, or creates it if it does not exist.
func put(ctx context.Context, c remote.Client, uid string, spec folder) error {
	err := c.Call(ctx, http.MethodPut, "/api/folders/"+uid, map[string]any{"title": spec.Title, "overwrite": true}, nil)
	if remote.IsNotFound(err) {
		return c.Call(ctx, http.MethodPost, "/api/folders", spec, nil)
	}
	return err
}

// FetchRemoteState reads the selected instances and the folder in them.
func (f reconciler) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc rcontext) (o observed) {
	o.instances = remote.Select(ctx, r, rc.Object.Namespace, rc.Object.Spec.GrafanaCommonSpec)
	f.folders.Observe(ctx, r, o.instances, rc.Object.FolderUID())
	return o
}

// PlanResources plans the folder in each instance.
func (f reconciler) PlanResources(_ context.Context, rc rcontext, o observed) (plan reconcile.PlanResult, _ error) {
	uid := rc.Object.FolderUID()
	spec := folder{UID: uid, Title: cmp.Or(rc.Object.Spec.Title, rc.Object.Name)}
	f.folders.Plan(&plan, o.instances, uid, spec, rc.Object.Spec.GrafanaCommonSpec)
	return plan, nil
}

// ObserveApply takes the results of the instances.
func (f reconciler) ObserveApply(_ context.Context, _ rcontext, o observed, outcome reconcile.ApplyOutcome) observed {
	o.instances = f.folders.Applied(o.instances, outcome)
	return o
}

// DecorateStatus reports whether the folder is synchronized.
func (reconciler) DecorateStatus(
	status *v1beta1.GrafanaFolderStatus, cm *conditions.Manager, sc reconcile.StatusContext[*v1beta1.GrafanaFolder], o observed,
) {
	status.UID = sc.Object.FolderUID()
	o.instances.Report(cm, sc.Blocked, "Folder", v1beta1.FolderSynchronized)
}
