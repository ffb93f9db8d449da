// Package standin runs the programs that simulate missing controllers in demos.
package standin

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Main is the main function of a stub: it repeats its work until it is interrupted. It prints errors to stderr and retries.
func Main(addToScheme func(*runtime.Scheme) error, play func(context.Context, client.Client) error) {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "the cluster to run in")
	interval := flag.Duration("interval", time.Second, "the polling interval")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *kubeconfig, *interval, addToScheme, play)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
}

func run(
	ctx context.Context, kubeconfig string, interval time.Duration,
	addToScheme func(*runtime.Scheme) error, play func(context.Context, client.Client) error,
) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := addToScheme(scheme); err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if err := play(ctx, c); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "standin:", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
