package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/predictor"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/standin/memory"
)

// TestPredictorsConverge checks that, despite faults in the cluster and in ModelMesh, the model of a Predictor is
// loaded, is deleted with the Predictor, and the models of other sources are kept.
func TestPredictorsConverge(t *testing.T) {
	t.Parallel()
	modelOf := func(name string) client.Object {
		p := &v1alpha1.Predictor{ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: name}}
		p.Spec.ModelType.Name = "onnx"
		return p
	}
	convergeModels(t, "ksp", "isvc", func(m predictor.Mesh) *controller.Controller { return predictor.New(m, clients).Build() },
		&v1alpha1.PredictorList{},
		func(o client.Object) { o.(*v1alpha1.Predictor).Spec.ModelType.Name = "sklearn" }, modelOf("one"), modelOf("two"))
}

// TestInferenceServicesConverge checks the same for InferenceServices, also for one that ModelMesh no longer serves.
func TestInferenceServicesConverge(t *testing.T) {
	t.Parallel()
	modelOf := func(name string) client.Object {
		s := &v1beta1.InferenceService{ObjectMeta: metav1.ObjectMeta{
			Namespace: place, Name: name, Annotations: map[string]string{"serving.kserve.io/deploymentMode": "ModelMesh"},
		}}
		s.Spec.Predictor.ONNX = &v1beta1.Source{StorageURI: new("s3://b/p")}
		return s
	}
	convergeModels(t, "isvc", "ksp",
		func(m predictor.Mesh) *controller.Controller { return predictor.NewServices(m, clients).Build() },
		&v1beta1.InferenceServiceList{},
		func(o client.Object) { o.(*v1beta1.InferenceService).Spec.Predictor.ONNX.StorageURI = new("s3://b/q") }, modelOf("one"), modelOf("two"))
}

func clients(ctrl.Request) predictor.Settings {
	return predictor.Settings{Service: "modelmesh-serving", Port: 8033, RESTPort: 8008}
}

// faulty is a ModelMesh of which some calls do not arrive and some responses are lost.
type faulty struct {
	memory.Mesh

	mu    sync.Mutex
	calls int
}

// foreign is the name of a model of another source.
const foreign = "foreign"

// convergeModels searches for faults of the controller of a source of models.
func convergeModels( //nolint:revive // what the two sources differ in
	t *testing.T, source, other string, declare func(predictor.Mesh) *controller.Controller, list client.ObjectList,
	change func(client.Object), owners ...client.Object,
) {
	t.Helper()
	env := settings.FromEnvironment(lookup(map[string]string{"NAMESPACE": place}))
	converge(t, env, reconciletest.System{
		Owners: owners, Change: change,
		Accepted: []reconciletest.Acceptance{{
			Check: check.State, About: "restart with the previous cache",
			Reason: "the previous model is requested again, and the events of the model loaded afterwards are not simulated",
		}},
		Setup: func(mgr ctrl.Manager) error {
			f := reconciletest.OutsideOf(mgr).(*faulty)
			return declare(predictor.Mesh{Call: f.call}).SetupWithManager(mgr)
		},
		Normalise: func(o *unstructured.Unstructured) { // the observed generation, which no status has
			unstructured.RemoveNestedField(o.Object, "metadata", "annotations", "reconcilekit.dev/generation")
		},
		Outside: func() any {
			f := &faulty{}
			f.Put(foreign, other)
			return f
		},
		StandIns: []reconciletest.StandIn{func(ctx context.Context, c client.Client) error {
			f := reconciletest.OutsideFrom(ctx).(*faulty)
			current := list.DeepCopyObject().(client.ObjectList)
			if err := c.List(ctx, current, client.InNamespace(place)); err != nil {
				return err
			}
			used := map[string]string{foreign: other}
			_ = meta.EachListItem(current, func(o runtime.Object) error {
				used[o.(client.Object).GetName()] = source
				return nil
			})
			all := f.VModels()
			if all[foreign] != other {
				t.Errorf("the model of %s is missing", other)
			}
			for name := range all {
				if used[name] == "" {
					t.Errorf("the model %s exists, but its owner does not", name)
				}
				f.Finish(name, mmesh.Model{State: mmesh.Loaded})
			}
			return nil
		}},
	})
}

// call fails the first calls: some do not arrive, others lose their response.
func (f *faulty) call(ctx context.Context, _ string, call func(context.Context, mmesh.Client) error) error {
	const kinds, last = 3, 12
	f.mu.Lock()
	f.calls++
	fault := f.calls % kinds
	if f.calls > last {
		fault = 0
	}
	f.mu.Unlock()
	if fault == 1 {
		return status.Error(codes.Unavailable, "connection refused")
	}
	err := call(ctx, mmesh.Client{Conn: direct{&f.Mesh}})
	if fault == 2 && err == nil {
		return status.Error(codes.DeadlineExceeded, "the response is lost")
	}
	return err
}

// direct is a connection without a network.
type direct struct{ mesh *memory.Mesh }

func (d direct) Invoke(ctx context.Context, method string, request, answer any, _ ...grpc.CallOption) error {
	var found *mmesh.VModel
	var err error
	switch r := request.(type) {
	case *mmesh.SetRequest:
		found, err = d.mesh.Set(ctx, r)
	case *mmesh.Reference:
		if strings.HasSuffix(method, "/deleteVModel") {
			return d.mesh.Remove(ctx, *r)
		}
		found, err = d.mesh.Get(ctx, *r)
	}
	if v, ok := answer.(*mmesh.VModel); ok && err == nil {
		*v = *found
	}
	return err
}

func (direct) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, errors.ErrUnsupported
}
