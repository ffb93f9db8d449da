package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/internal/rooms/trace"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

func main() {
	verbose := flag.Bool("v", false, "print the rooms in the order of the way")
	flag.Parse()
	if err := run(os.Stdout, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A situation is what happens before a pass.
type situation struct {
	name   string
	before func(ctx context.Context, c client.Client) error
	image  string
}

func situations() []situation {
	return []situation{
		{name: "does not exist", image: "web:1"},
		{name: "as planned", image: "web:1"},
		{name: "changed by others, not in what is planned", image: "web:1", before: annotate},
		{name: "the plan has changed", image: "web:2"},
		{name: "changed by others", image: "web:2", before: changeImage},
	}
}

func run(out io.Writer, verbose bool) error {
	ctx := context.Background() //nolint:forbidigo // the program begins here
	mapper := apimeta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), apimeta.RESTScopeNamespace)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), apimeta.RESTScopeNamespace)
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default", UID: "1"}}
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper).WithReturnManagedFields().WithObjects(owner).Build()
	if err := c.Get(ctx, client.ObjectKeyFromObject(owner), owner); err != nil {
		return err
	}
	e, err := engine.New(c, c, apply.Options{FieldManager: "operator"})
	if err != nil {
		return err
	}
	ways := ways()
	var recorders []*trace.Recorder
	for _, w := range ways {
		recorders = append(recorders, w.recorder)
	}
	trace.Follow(recorders...)
	_, _ = fmt.Fprintf(out, "%-45s %-10s %-10s %6s %6s %6s %8s\n", "child", "is", "room", "calls", "stays", "rooms", "returns")
	for _, s := range situations() {
		if s.before != nil {
			if err := s.before(ctx, c); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		var plan apply.Plan
		plan.Apply(deployment(s.image))
		if err := e.Apply(ctx, owner, plan).Err(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for _, w := range ways {
			way := w.recorder.Take()
			if len(way.Stays) == 0 {
				continue // nothing was sent
			}
			_, _ = fmt.Fprintf(out, "%-45s %-10s %-10s %6d %6d %6d %8d\n", s.name, w.stage, w.room, way.Calls, len(way.Stays), way.Rooms(), way.Returns())
			if verbose {
				_, _ = fmt.Fprintln(out, "   ", way.Short())
			}
		}
	}
	return nil
}

// A recordedWay is the way of the child through one stage of a pass.
type recordedWay struct {
	stage, room string
	recorder    *trace.Recorder
}

func ways() []recordedWay {
	return []recordedWay{
		{"decided", "package", trace.NewRecorder(false, leaves(), "decide.Child")},
		{"sent", "package", trace.NewRecorder(false, leaves(), "write.send")},
		{"decided", "file", trace.NewRecorder(true, leaves(), "decide.Child")},
		{"sent", "file", trace.NewRecorder(true, leaves(), "write.send")},
	}
}

// leaves are the packages below the words of plans: they are asked about values and know no child.
func leaves() []string {
	return []string{"content", "managedfields", "compare", "applyset", "order", "planerror", "kinds", "freshness"}
}

func deployment(image string) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: image}}},
			},
		},
	}
}

func annotate(ctx context.Context, c client.Client) error {
	d := deployment("")
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"example.com/seen":"true"}}}`))
	return c.Patch(ctx, d, patch, client.FieldOwner("someone"))
}

func changeImage(ctx context.Context, c client.Client) error {
	d := deployment("")
	patch := client.RawPatch("application/strategic-merge-patch+json",
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:3"}]}}}}`))
	return c.Patch(ctx, d, patch, client.FieldOwner("someone"))
}
