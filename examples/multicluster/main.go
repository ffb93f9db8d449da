// Command multicluster is an operator for two clusters: Websites of a hub become a ConfigMap and a Deployment in a member.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/providers/single"
)

// memberName is the name of the member in multicluster-runtime.
const memberName = "member"

// newManager returns a manager with the controller: owners are in the hub, children in the member.
func newManager(ctx context.Context, hub, member *rest.Config, options manager.Options) (mcmanager.Manager, error) {
	known := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(known), v1.AddToScheme(known)); err != nil {
		return nil, fmt.Errorf("make the scheme: %w", err)
	}
	websites := controller.New("multicluster", reconciler{}).
		Writes(&corev1.ConfigMap{}).
		Writes(&appsv1.Deployment{}).
		Reads(&appsv1.Deployment{}).Build()
	caches, err := controller.CacheOptions(known, websites)
	if err != nil {
		return nil, err
	}
	children, err := cluster.New(member, func(o *cluster.Options) { o.Scheme, o.Cache = known, caches })
	if err != nil {
		return nil, fmt.Errorf("connect to the member: %w", err)
	}
	options.Scheme, options.Cache = known, caches
	mgr, err := mcmanager.New(hub, single.New(memberName, children), options)
	if err != nil {
		return nil, fmt.Errorf("connect to the hub: %w", err)
	}
	return mgr, setup(ctx, mgr, websites)
}

// setup adds the member and the controller to the manager.
func setup(ctx context.Context, mgr mcmanager.Manager, websites *controller.Controller) error {
	member, err := mgr.GetCluster(ctx, memberName)
	if err != nil {
		return err
	}
	hub := mgr.GetLocalManager()
	if err := hub.Add(member); err != nil { // the provider does not start it
		return fmt.Errorf("add the member: %w", err)
	}
	across, err := controller.Across(hub, member, &v1.Website{})
	if err != nil {
		return err
	}
	return websites.SetupWithManager(across)
}

func run() error {
	kubeconfig := flag.String(
		"member-kubeconfig", "", "kubeconfig of the cluster with the children; -kubeconfig is that of the cluster with the owners",
	)
	namespace := flag.String("leader-election-namespace", "default", "namespace of the lease, in the cluster with the owners")
	flag.Parse()
	log.SetLogger(zap.New())
	hub, err := config.GetConfig()
	if err != nil {
		return fmt.Errorf("find the hub: %w", err)
	}
	member, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return fmt.Errorf("flag -member-kubeconfig %q: want a file with a current context: %w", *kubeconfig, err)
	}
	ctx := signals.SetupSignalHandler()
	mgr, err := newManager(ctx, hub, member, manager.Options{
		LeaderElection: true, LeaderElectionID: "multicluster.example.com", LeaderElectionNamespace: *namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "multicluster:", err)
		os.Exit(1)
	}
}
