// Command modelmesh is the operator of ModelMesh Serving. It reconciles ServingRuntime, ClusterServingRuntime, Predictor and
// InferenceService.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/operator"
	live "github.com/reconcilekit/reconcilekit/reconcile/settings"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	kserve "github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/etcd"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/predictor"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/runtimes"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/service"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/webhook"
)

//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .

func main() {
	os.Args = productFlags(os.Args)
	if len(os.Args) == 3 && strings.TrimLeft(os.Args[1], "-") == "check-config" {
		if err := checkConfig(os.Args[2], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	modelmesh(os.Getenv).Main()
}

// checkConfig prints the configuration that results from the user's document in a file.
func checkConfig(file string, stdout io.Writer) error {
	return live.Check(file, settings.Parse, stdout)
}

// productFlags renames the flags of the product to the common flags of operators.
func productFlags(arguments []string) []string {
	names := map[string]string{"metrics-addr": "metrics-bind-address", "enable-leader-election": "leader-elect"}
	out := append([]string(nil), arguments...)
	for i, argument := range out {
		name, value, _ := strings.Cut(strings.TrimLeft(argument, "-"), "=")
		if other, found := names[name]; found && strings.HasPrefix(argument, "-") {
			out[i] = strings.TrimSuffix("--"+other+"="+value, "=")
		}
	}
	return out
}

// modelmesh declares the operator; getenv is os.Getenv.
func modelmesh(getenv func(string) string) operator.Operator {
	env := settings.FromEnvironment(getenv)
	namespaces := &predictor.Namespaces{Enabled: env.Enabled}
	defaults := map[string]string{"metrics-bind-address": ":8080"}
	if !env.Cluster {
		defaults["namespaces"] = env.Namespace
	}
	var election string
	connections, events := &mmesh.Connections{}, etcd.NewEvents(env.Namespace, env.Cluster)
	return operator.Operator{
		Name:        "modelmesh-controller",
		LeaseName:   "modelmesh-controller-leader-lock",
		AddToScheme: []func(*runtime.Scheme) error{v1alpha1.AddToScheme, kserve.AddToScheme, v1beta1.AddToScheme},
		Defaults:    defaults,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&election, "leader-elect-type", "lease", "how the leader is elected: only lease")
		},
		Configure: func(o *operator.Operator, _ *runtime.Scheme) error {
			if election != "lease" {
				return fmt.Errorf("flag -leader-elect-type: %q; want lease: a leader for life blocks the next one until its pod is deleted", election)
			}
			o.Controllers = controllers(env, connections, events, namespaces)
			return nil
		},
		Setup: func(mgr manager.Manager) error {
			if env.Cluster { // which reads namespaces
				namespaces.Reader = mgr.GetClient()
			}
			return errors.Join(mgr.Add(connections), mgr.Add(events))
		},
		Webhooks: func(mgr manager.Manager) (map[string]http.Handler, error) {
			return webhook.Handlers(mgr.GetScheme()), nil
		},
		Describe: func(page *dataflow.Page) error {
			page.Webhooks = webhook.Describe()
			page.Services = []dataflow.Service{ // the names of the product
				{Name: "modelmesh-controller", Port: 8443, PortName: "metrics"}, {Name: webhook.Service, Port: 443, PortName: "webhooks"},
			}
			page.ExtraRules = finalizers(env)
			page.CRDs = append(page.CRDs, "ClusterServingRuntime (serving.kserve.io/v1alpha1)", "ServingRuntime (serving.kserve.io/v1alpha1)")
			return nil
		},
	}
}

// controllers returns all controllers of the operator. They share one configuration.
func controllers(
	env settings.Environment, connections *mmesh.Connections, events *etcd.Events, namespaces *predictor.Namespaces,
) []*controller.Controller {
	config := settings.NewLive(env.Namespace)
	all := []*controller.Controller{
		service.New(env, config, events, connections),
		models(config, connections, events, namespaces, predictor.New),
		runtimes.New(env, config),
	}
	if env.Services {
		services := func(m predictor.Mesh, of func(ctrl.Request) predictor.Settings) *controller.Builder {
			return predictor.NewServices(m, of).Prepare(whenInstalled(env.ServicesRequired))
		}
		all = append(all, models(config, connections, events, namespaces, services))
	}
	for _, c := range all {
		c.StoreClaimsIn(env.Namespace)
	}
	return all
}

// models returns the controller of a source of models. The configuration defines the address of ModelMesh.
func models(
	config *settings.Live, connections *mmesh.Connections, events *etcd.Events, namespaces *predictor.Namespaces,
	declare func(predictor.Mesh, func(ctrl.Request) predictor.Settings) *controller.Builder,
) *controller.Controller {
	call := func(ctx context.Context, namespace string, call func(context.Context, mmesh.Client) error) error {
		c := config.Get()
		target := mmesh.Target{Address: c.ModelMeshEndpoint, TLS: c.TLS.SecretName, Authority: c.InferenceServiceName + "." + namespace}
		if target.Address == "" {
			target.Address = fmt.Sprintf("dns:///%s.%s:%d", c.InferenceServiceName, namespace, c.InferenceServicePort)
		}
		return connections.Call(ctx, namespace, target, call)
	}
	var readers *settings.Readers
	b := declare(predictor.Mesh{Call: call, Events: events, Gone: namespaces.Gone}, func(owner ctrl.Request) predictor.Settings {
		return live.Read(readers, owner, predictorSettings)
	})
	return config.Bind(b, func(r *settings.Readers) { readers = r }).Build()
}

// whenInstalled skips the controller of InferenceService, a kind of KServe, if its CRD is missing at the start of the operator,
// unless it is required.
func whenInstalled(required bool) func(manager.Manager) error {
	return func(mgr manager.Manager) error {
		kind := v1beta1.GroupVersion.WithKind("InferenceService")
		if _, err := mgr.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version); meta.IsNoMatchError(err) && !required {
			mgr.GetLogger().Info("InferenceService is not installed: none is a source of models until the operator starts again")
			return controller.ErrSkip
		}
		return nil
	}
}

// predictorSettings returns the part of the configuration that the status of a model depends on.
func predictorSettings(c settings.Config) predictor.Settings {
	s := predictor.Settings{Service: c.InferenceServiceName, Port: int(c.InferenceServicePort)}
	if c.RESTProxy.Enabled {
		s.RESTPort = int(c.RESTProxy.Port)
	}
	return s
}

// finalizers are the permissions that the API server requires for an owner reference that blocks the deletion of its owner.
func finalizers(env settings.Environment) []rbacv1.PolicyRule {
	rule := func(group string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: []string{"update"}}
	}
	rules := []rbacv1.PolicyRule{rule("", "services/finalizers"), rule("serving.kserve.io", "servingruntimes/finalizers")}
	if env.ClusterRuntimes {
		rules = append(rules, rule("serving.kserve.io", "clusterservingruntimes/finalizers"))
	}
	if env.Cluster {
		return append(rules, rule("", "namespaces/finalizers"))
	}
	return append(rules, rule("apps", "deployments/finalizers"))
}
