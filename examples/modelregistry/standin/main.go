// Command standin plays the router of OpenShift for the demo: it marks every Route as admitted, and routes nothing.
//
// Never run it where a real one runs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
)

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "the cluster to play in")
	interval := flag.Duration("interval", time.Second, "how often to look")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *kubeconfig, *interval)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig string, interval time.Duration) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := openshift.AddToScheme(scheme); err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	for ticker := time.NewTicker(interval); ; {
		if err := admit(ctx, c); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "standin:", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// admit admits every Route that is not.
func admit(ctx context.Context, c client.Client) error {
	var routes openshift.RouteList
	if err := c.List(ctx, &routes); err != nil {
		return err
	}
	var errs []error
	for i := range routes.Items {
		route := &routes.Items[i]
		if admitted, _ := route.Admitted(); admitted {
			continue
		}
		before := client.MergeFrom(route.DeepCopy())
		route.Status.Ingress = []openshift.RouteIngress{{
			Host: route.Spec.Host, Conditions: []openshift.RouteCondition{{Type: "Admitted", Status: corev1.ConditionTrue}},
		}}
		errs = append(errs, c.Status().Patch(ctx, route, before))
	}
	return errors.Join(errs...)
}
