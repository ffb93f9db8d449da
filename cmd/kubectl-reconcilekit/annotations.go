package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// The annotations of owners. They are those of the library, which this module does not import.
const (
	pausedAnnotation  = "reconcilekit.dev/paused"
	requestAnnotation = "reconcilekit.dev/reconcile-requested-at"
	handledSuffix     = ".reconcilekit.dev/reconcile-handled-at" // after a hash of the controller
)

// poll is the interval of reads while a request is not handled.
const poll = 300 * time.Millisecond

// annotate sets the annotation of the owner; nil removes it.
func (o *owner) annotate(ctx context.Context, name string, value any) (*unstructured.Unstructured, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{name: value}}})
	if err != nil {
		return nil, err
	}
	return o.client.Patch(ctx, o.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-reconcilekit"})
}

func pauseCommand(p *plugin) *cobra.Command {
	annotation := pausedAnnotation
	command := ownerCommand(p, "pause", "Stop the reconciliation of an owner", func(ctx context.Context, o *owner) error {
		if _, err := o.annotate(ctx, annotation, "true"); err != nil {
			return err
		}
		return p.print("%s paused\n", o)
	})
	command.Flags().StringVar(&annotation, "annotation", annotation, "annotation that pauses owners of this operator")
	return command
}

func resumeCommand(p *plugin) *cobra.Command {
	annotation := pausedAnnotation
	command := ownerCommand(p, "resume", "Continue the reconciliation of an owner", func(ctx context.Context, o *owner) error {
		if _, err := o.annotate(ctx, annotation, nil); err != nil {
			return err
		}
		return p.print("%s resumed\n", o)
	})
	command.Flags().StringVar(&annotation, "annotation", annotation, "annotation that pauses owners of this operator")
	return command
}

func reconcileCommand(p *plugin) *cobra.Command {
	timeout, wait := time.Minute, true
	command := ownerCommand(p, "reconcile", "Reconcile an owner at once, and repeat refused writes", func(ctx context.Context, o *owner) error {
		token := time.Now().UTC().Format(time.RFC3339Nano)
		found, err := o.annotate(ctx, requestAnnotation, token)
		if err != nil {
			return err
		}
		if !wait {
			return p.print("%s: reconciliation requested\n", o)
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		for !handled(found, token) {
			select {
			case <-time.After(poll):
			case <-ctx.Done():
				return fmt.Errorf("%s is not reconciled after %s: %w", o, timeout, whyNot(found))
			}
			next, err := o.client.Get(ctx, o.name, metav1.GetOptions{})
			switch {
			case err == nil:
				found = next
			case ctx.Err() == nil:
				return err
			}
		}
		return p.print("%s reconciled\n%s", o, line(ready(found)))
	})
	command.Flags().DurationVar(&timeout, "timeout", timeout, "how long to wait for the reconciliation")
	command.Flags().BoolVar(&wait, "wait", wait, "wait for the reconciliation")
	return command
}

// handled reports whether all controllers that have ever handled a request of the owner have handled this one.
func handled(o *unstructured.Unstructured, token string) bool {
	annotations := o.GetAnnotations()
	keys := slices.DeleteFunc(slices.Collect(maps.Keys(annotations)), func(key string) bool { return !strings.HasSuffix(key, handledSuffix) })
	return len(keys) > 0 && !slices.ContainsFunc(keys, func(key string) bool { return annotations[key] != token })
}

var (
	errPaused  = errors.New("it is paused by the annotation " + pausedAnnotation)
	errNotDone = errors.New("is its operator running? kubectl reconcilekit explain says what it waits for")
)

func whyNot(o *unstructured.Unstructured) error {
	if o.GetAnnotations()[pausedAnnotation] == "true" {
		return errPaused
	}
	return errNotDone
}

func line(text string) string {
	if text == "" {
		return ""
	}
	return text + "\n"
}

func (p *plugin) print(format string, values ...any) error {
	_, err := fmt.Fprintf(p.Out, format, values...)
	return err
}
