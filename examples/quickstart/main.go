// Command quickstart is a whole operator: a Website becomes a ConfigMap with its text,
// a Deployment that serves it, and a Service.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .

type pass = reconcile.ReconcileContext[*v1.Website]

// observed is what a pass knows of the cluster.
type observed struct {
	deployment reconcile.FetchResult[*appsv1.Deployment]
}

type reconciler struct{}

var _ reconcile.Reconciler[*v1.Website, observed, observed] = reconciler{}

// FetchRemoteState reads. The read has a watch: when the Deployment changes, a pass follows.
func (reconciler) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc pass) observed {
	return observed{reconcile.Fetch(ctx, r, client.ObjectKeyFromObject(rc.Object), &appsv1.Deployment{})}
}

// GetComponentHealth reports how each part is; the conditions come from it.
func (o observed) GetComponentHealth(context.Context) []health.Component {
	return []health.Component{o.deployment.Downstream("Deployment", inspect.Of)}
}

// PlanResources lists everything that must exist. What is not listed any more is deleted.
func (reconciler) PlanResources(_ context.Context, rc pass, _ observed) (plan reconcile.PlanResult, _ error) {
	site := rc.Object
	meta := metav1.ObjectMeta{Name: site.Name, Namespace: site.Namespace}
	labels := map[string]string{"website": site.Name}

	plan.Apply(&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"index.html": site.Spec.Text}})
	plan.Apply(&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
		Selector: labels, Ports: []corev1.ServicePort{{Port: 80}},
	}})
	plan.Apply(&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Replicas: site.Spec.Replicas,
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "web", Image: "nginx:1.29", VolumeMounts: []corev1.VolumeMount{
				{Name: "text", MountPath: "/usr/share/nginx/html"},
			}}},
			Volumes: []corev1.Volume{{Name: "text", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: site.Name},
			}}}},
		}},
	}})
	return plan, nil
}

// declare reports what the controller owns; what it reconciles and reads follows from the types.
func declare() *controller.Builder[*v1.Website, observed, observed] {
	return controller.New("quickstart", reconciler{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Service{}).
		Owns(&appsv1.Deployment{})
}

// newScheme knows the kinds that the operator works with. client-go's own is read by its clients all the time, so it is left alone.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), v1.AddToScheme(scheme))
}

// describe makes the page of the operator, without a cluster.
func describe() (controller.Page, error) {
	scheme, err := newScheme()
	if err != nil {
		return controller.Page{}, err
	}
	page, err := controller.NewPage("quickstart", scheme, declare())
	page.LeaderElection = true
	return page, err
}

// run starts the operator and returns when ctx ends.
func run(ctx context.Context, config *rest.Config, options ctrl.Options) error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	options.Scheme = scheme
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	if err := errors.Join(declare().SetupWithManager(mgr), mgr.AddHealthzCheck("ping", healthz.Ping)); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func main() {
	options := ctrl.Options{LeaderElectionID: "quickstart.example.com"}
	hooks := webhook.Options{}
	flag.StringVar(&options.Metrics.BindAddress, "metrics-bind-address", "0", `where metrics are served; "0" serves none`)
	flag.StringVar(&options.HealthProbeBindAddress, "health-probe-bind-address", "0", `where /healthz is served; "0" serves none`)
	flag.BoolVar(&options.LeaderElection, "leader-elect", false, "let only one of several instances work")
	flag.IntVar(&hooks.Port, "webhook-port", webhook.DefaultPort, "port of the webhook server; without webhooks none is started")
	flag.StringVar(&hooks.CertDir, "webhook-cert-dir", "", "folder with tls.crt and tls.key of the webhook server")
	describes := flag.Bool("describe", false, "print what the operator watches, reads and writes, and exit")
	flag.Parse() // --kubeconfig, too
	ctrl.SetLogger(zap.New())
	if *describes {
		page, err := describe()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(page.Markdown())
		return
	}
	options.WebhookServer = webhook.NewServer(hooks)
	if err := run(ctrl.SetupSignalHandler(), ctrl.GetConfigOrDie(), options); err != nil {
		log.Fatal(err)
	}
}
