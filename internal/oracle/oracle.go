package oracle

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/internal/widget"
)

// Oracle runs sequences on one API server.
type Oracle struct {
	seed       uint64
	client     client.Client
	everyday   []*Kind
	custom     []*Kind
	namespaces []string
	// Tally counts the events of the sequences.
	Tally *Tally
	// The search of Switch: its kinds, and the namespaces as owners.
	switched []*Kind
	owners   []client.Object
	// Switches counts the pairs of Switch.
	Switches *SwitchTally
}

// customCount is the number of generated kinds of a run.
const customCount = 32

// namespaceCount is the number of namespaces that the sequences share.
const namespaceCount = 4

// Open generates the kinds of a seed and installs them. The CRDs of widgets and of HTTPRoute must be installed.
func Open(ctx context.Context, config *rest.Config, seed uint64) (*Oracle, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, widget.AddToScheme, gatewayv1.Install, apiextensionsv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("oracle: %w", err)
		}
	}
	o := &Oracle{seed: seed, custom: customKinds(seed, customCount, scheme), Tally: newTally()}
	var err error
	if o.client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	if err := o.install(ctx); err != nil {
		return nil, fmt.Errorf("oracle: install the kinds of seed %d: %w", seed, err)
	}
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		// The OpenAPI document of a CRD's group is available shortly after the CRD.
		o.everyday, err = openKinds(ctx, d, scheme, everydayKinds(), podSmall, podLarge)
		return err == nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("oracle: read the schemas of everyday kinds: %w", err)
	}
	return o, o.checkBases(ctx, slices.Concat(o.everyday, o.custom))
}

// OpenSwitches prepares [Oracle.Switch]. The CRDs of Gateway, HTTPRoute and GRPCRoute must be installed.
func (o *Oracle) OpenSwitches(ctx context.Context, config *rest.Config) error {
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("oracle: %w", err)
	}
	if o.switched, err = openKinds(ctx, d, o.client.Scheme(), switchedKinds(), switchedPods()...); err != nil {
		return fmt.Errorf("oracle: read the schemas of the switched kinds: %w", err)
	}
	for _, name := range o.namespaces {
		owner := &corev1.Namespace{}
		if err := o.client.Get(ctx, client.ObjectKey{Name: name}, owner); err != nil {
			return fmt.Errorf("oracle: %w", err)
		}
		o.owners = append(o.owners, owner)
	}
	o.Switches = newSwitchTally()
	return o.checkBases(ctx, o.switched)
}

// checkBases returns an error about the first base that the API server rejects, because no sequence would use it.
func (o *Oracle) checkBases(ctx context.Context, kinds []*Kind) error {
	for _, k := range kinds {
		for _, base := range k.bases {
			p := &pair{kind: k, name: "base", a: runtime.DeepCopyJSON(base)}
			p.nameDefinition()
			object := &unstructured.Unstructured{Object: p.a}
			object.SetGroupVersionKind(k.gvk)
			object.SetName(p.name)
			if namespaced, err := o.client.IsObjectNamespaced(object); err != nil || namespaced {
				object.SetNamespace(o.namespaces[0])
			}
			if err := o.client.Create(ctx, object, client.DryRunAll); err != nil {
				return fmt.Errorf("oracle: the API server rejects the base %s: %w", full(base), err)
			}
		}
	}
	return nil
}

func (o *Oracle) install(ctx context.Context) error {
	for i := range namespaceCount {
		name := fmt.Sprintf("oracle-%d", i)
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := o.client.Create(ctx, ns); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		o.namespaces = append(o.namespaces, name)
	}
	for _, k := range o.custom {
		if err := o.client.Create(ctx, k.definition()); err != nil {
			return err
		}
	}
	for _, k := range o.custom {
		if err := o.established(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

func (o *Oracle) established(ctx context.Context, k *Kind) error {
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := o.client.Get(ctx, client.ObjectKeyFromObject(k.definition()), crd); err != nil {
			return false, err
		}
		for _, c := range crd.Status.Conditions {
			switch {
			case c.Type == apiextensionsv1.NonStructuralSchema && c.Status == apiextensionsv1.ConditionTrue:
				return false, fmt.Errorf("%s: %s", k.gvk.Kind, c.Message)
			case c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue:
				return true, nil
			}
		}
		return false, nil
	})
}

// Failure is a violated property in a sequence.
type Failure struct {
	// Property names the property in a word.
	Property string
	// Sequence lists the events, line by line.
	Sequence []string
	// Seed and Number reproduce it.
	Seed   uint64
	Number int
	// Steps is the number of steps.
	Steps int
}
