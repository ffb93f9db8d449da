package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/dryrun"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/multicluster"
	"github.com/reconcilekit/reconcilekit/reconcile/explain"
	"github.com/reconcilekit/reconcilekit/reconcile/preview"
)

// RunningPreview is one owner for [PreviewRunning], and the access of the account that asks for it.
type RunningPreview struct {
	// Kind is the kind of the owner, such as Website, in any case, followed by a dot and the group if several groups have
	// the name.
	Kind string
	// Owner is the name of the owner.
	Owner types.NamespacedName
	// Manifest is the owner as it would be, which may exist or not; its status is ignored. Default the owner as it is.
	Manifest *unstructured.Unstructured
	// Access returns an error unless the account has a permission. PreviewRunning calls it with "update" for the owner before
	// it does anything else, and with "get" for each object with changed fields, whose values it otherwise masks. Required.
	Access func(ctx context.Context, verb string, kind schema.GroupVersionKind, object types.NamespacedName) error
}

var errAcross = errors.New("a running operator does not preview owners whose children are in another cluster")

// PreviewRunning reports the changes that the controllers of a running manager would now make for one owner. Like [Preview]
// it makes none of them, but side effects of the phases occur. It reads from the caches of the manager, and sends only reads.
// Groups are not previewed; their owners read the current ones.
//
// An error of the package k8s.io/apimachinery/pkg/api/errors has the reason NotFound if there is no such kind or owner,
// BadRequest for an unsuitable manifest, and ServiceUnavailable if another process reconciles the owner.
func PreviewRunning(ctx context.Context, o RunningPreview, controllers ...*Controller) (report preview.Report, err error) {
	ctx = log.IntoContext(ctx, logr.Discard())
	found := false
	for _, c := range controllers {
		if c.explainer == nil || c.store != nil || !c.explainer.Reads.Kinds[0].Named(o.Kind) {
			continue
		}
		found = true
		one, err := c.previewRunning(ctx, o)
		if err != nil {
			return preview.Report{}, err
		}
		report.Owners, report.Skipped = append(report.Owners, one.Owners...), append(report.Skipped, one.Skipped...)
	}
	if !found {
		return report, apierrors.NewNotFound(schema.GroupResource{Resource: "kinds of owners"}, o.Kind)
	}
	return report, nil
}

func (c *Controller) previewRunning(ctx context.Context, o RunningPreview) (report preview.Report, err error) {
	live := c.explainer.Reads
	kind := live.Kinds[0]
	key := kind.Name(o.Owner)
	if err := o.Access(ctx, "update", kind.GroupVersionKind, key); err != nil {
		return report, err
	}
	switch {
	case multicluster.Is(c.running):
		return report, apierrors.NewBadRequest(errAcross.Error())
	case !c.explainer.Leads():
		return report, apierrors.NewServiceUnavailable("this process is on standby: ask the process that holds the lease")
	}
	options := PreviewOptions{}
	if o.Manifest != nil {
		if err := previewable(o.Manifest, kind, key); err != nil {
			return report, err
		}
		manifest := o.Manifest.DeepCopy()
		unstructured.RemoveNestedField(manifest.Object, "status")
		options.Manifests = []*unstructured.Unstructured{manifest}
	}
	switch known, err := c.Explain(ctx, key); {
	case err != nil:
		return report, err
	case known.Process == explain.ProcessOtherShard && !known.Found && o.Manifest != nil:
		return report, apierrors.NewServiceUnavailable("this process has no such owner in its shard; an owner that does not exist has no shard")
	case known.Process != "":
		return report, apierrors.NewServiceUnavailable(known.Waits)
	case !known.Found && o.Manifest == nil:
		return report, apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: strings.ToLower(kind.Kind)}, key.String())
	}
	mgr, err := dryrun.NewSharing(c.running)
	if err != nil {
		return report, err
	}
	dry, err := c.previewer(mgr, options, live)
	if err != nil {
		return report, err
	}
	defer dry.Reads.Drop()
	dry.Owners = []types.NamespacedName{key}
	dry.Pass.Readable = func(ctx context.Context, kind schema.GroupVersionKind, object types.NamespacedName) bool {
		return o.Access(ctx, "get", kind, object) == nil
	}
	return dryrun.Running(ctx, []*dryrun.Controller{dry})
}

// previewable returns an error if the manifest is not one of the owner.
func previewable(manifest *unstructured.Unstructured, kind *declaration.Kind, key types.NamespacedName) error {
	got := types.NamespacedName{Namespace: manifest.GetNamespace(), Name: manifest.GetName()}
	if manifest.GroupVersionKind() == kind.GroupVersionKind && kind.Name(got) == key {
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the manifest is of %s %s, want %s %s", declaration.Print(manifest.GroupVersionKind()), got,
		declaration.Print(kind.GroupVersionKind), key))
}
