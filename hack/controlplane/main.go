// Command controlplane builds a Kubernetes control plane from its Go modules and runs it without containers.
//
//	go run . build               all components; the folder is the last line of stdout
//	go run . build -only etcd,kube-apiserver
//	go run . start -server-only  etcd and kube-apiserver alone
//	go run . start               a cluster that keeps running; its kubeconfig is the last line of stdout
//	go run . stop                ends it and removes its data
//
// It downloads etcd and kube-apiserver if possible. Otherwise it needs only a Go module proxy.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/reconcilekit/reconcilekit/hack/controlplane/assets"
	"github.com/reconcilekit/reconcilekit/hack/controlplane/cluster"
)

const usage = `usage: controlplane <command> [flags]

  build   build the components into the cache folder and print the folder
  start   start a cluster that lives on, and print the path of its kubeconfig
  stop    stop a cluster and remove its data

controlplane <command> -h lists the flags of a command.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

// run executes one command; results are written to stdout, everything else to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)

		return errors.New("no command given, want build, start or stop")
	}

	switch args[0] {
	case "build":
		return build(ctx, args[1:], stdout, stderr)
	case "start":
		return start(ctx, args[1:], stdout, stderr)
	case "stop":
		return stopCluster(ctx, args[1:], stderr)
	case "-h", "--help", "help":
		fmt.Fprint(stdout, usage)

		return nil
	default:
		return fmt.Errorf("command %q is unknown, want build, start or stop", args[0])
	}
}

func build(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("only", "", "comma separated `components` to build; unset builds all: "+
		strings.Join(assets.Names(), ", "))

	index := indexFlag(flags)

	if err := flags.Parse(args); err != nil {
		return err
	}

	names := assets.Names()
	if *only != "" {
		names = strings.Split(*only, ",")
	}

	folder, err := assets.Ensure(ctx, assets.Options{Names: names, Index: *index, Progress: stderr})
	if err != nil {
		return err
	}

	fmt.Fprintln(stdout, folder)

	return nil
}

func indexFlag(flags *flag.FlagSet) *string {
	return flags.String("index", assets.DefaultIndex,
		"`URL` of the archives to download etcd and kube-apiserver from; empty builds them")
}

func start(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("start", flag.ContinueOnError)
	flags.SetOutput(stderr)

	var options cluster.Options

	flags.StringVar(&options.Name, "name", "default", "`name` of the cluster; each name is a separate cluster")
	flags.StringVar(&options.Kubeconfig, "kubeconfig", "", "`file` to write the kubeconfig to, in addition to the cluster's folder")
	flags.IntVar(&options.OwnerPID, "owner-pid", 0,
		"`process` that the cluster belongs to: the next start removes the cluster if that process has ended; 0 means no process")
	admission := flags.String("admission-plugins", "",
		"comma separated `plugins` to enable in addition to the defaults, for example OwnerReferencesPermissionEnforcement")
	flags.BoolVar(&options.ServerOnly, "server-only", false,
		"start only etcd and kube-apiserver: no pods, no node, no service accounts, no garbage collection")

	index := indexFlag(flags)

	if err := flags.Parse(args); err != nil {
		return err
	}

	if *admission != "" {
		options.AdmissionPlugins = strings.Split(*admission, ",")
	}

	names := assets.Names()
	if options.ServerOnly {
		names = assets.ServerNames()
	}

	folder, err := assets.Ensure(ctx, assets.Options{Names: names, Index: *index, Progress: stderr})
	if err != nil {
		return err
	}

	options.Assets, options.Progress = folder, stderr

	kubeconfig, err := cluster.Start(ctx, options)
	if err != nil {
		return err
	}

	fmt.Fprintln(stdout, kubeconfig)

	return nil
}

func stopCluster(ctx context.Context, args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("stop", flag.ContinueOnError)
	flags.SetOutput(stderr)
	name := flags.String("name", "default", "`name` of the cluster")

	if err := flags.Parse(args); err != nil {
		return err
	}

	return cluster.Stop(ctx, *name, stderr)
}
