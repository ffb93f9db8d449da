package releases

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/reconcilekit/reconcilekit/internal/widget"
)

// Server is the API server of the trials.
type Server struct {
	environment *envtest.Environment
	admin       client.Client
	scheme      *runtime.Scheme
	discovery   discovery.DiscoveryInterface
}

// Start starts an API server from the folder KUBEBUILDER_ASSETS. It calls no webhooks: the programs behind those of the manifests do not run.
// The CRDs are installed in addition to that of the owners.
func Start(crds ...*apiextensionsv1.CustomResourceDefinition) (*Server, error) {
	s := &Server{scheme: runtime.NewScheme(), environment: &envtest.Environment{
		BinaryAssetsDirectory:    os.Getenv("KUBEBUILDER_ASSETS"),
		CRDs:                     append(crds, widget.CRD()),
		ControlPlaneStartTimeout: patience, ControlPlaneStopTimeout: time.Minute,
	}}
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, widget.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(s.scheme); err != nil {
			return nil, fmt.Errorf("start the API server: %w", err)
		}
	}
	s.environment.ControlPlane.GetAPIServer().Configure().
		Set("advertise-address", "127.0.0.1").Set("endpoint-reconciler-type", "none").
		Set("enable-priority-and-fairness", "false").Set("service-cluster-ip-range", "10.0.0.0/16").
		Set("disable-admission-plugins", "MutatingAdmissionWebhook", "ValidatingAdmissionWebhook", "ServiceAccount")
	s.environment.ControlPlane.Etcd = &envtest.Etcd{}
	s.environment.ControlPlane.Etcd.Configure().Append("unsafe-no-fsync", "true")
	config, err := s.environment.Start()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the API server: %w", err), s.Stop())
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	if s.admin, err = client.New(config, client.Options{Scheme: s.scheme}); err == nil {
		s.discovery, err = discovery.NewDiscoveryClientForConfig(config)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the API server: %w", err), s.Stop())
	}
	return s, nil
}

// Stop stops the API server.
func (s *Server) Stop() error { return s.environment.Stop() }

// counted counts the requests of an engine. Its cached reads are read from the API server, and not counted: the cache is always current.
type counted struct {
	client.Client
	mu       sync.Mutex
	requests []string
}

func (c *counted) note(verb, kind, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, strings.TrimSpace(verb+" "+kind+" "+name))
}

// take returns the requests since the last call.
func (c *counted) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.requests
	c.requests = nil
	return out
}

func (c *counted) kindOf(o runtime.Object) string {
	gvk, _ := c.GroupVersionKindFor(o)
	return gvk.Kind
}

func (c *counted) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	c.note("POST", c.kindOf(o), o.GetName())
	return c.Client.Create(ctx, o, opts...)
}

func (c *counted) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	c.note("PUT", c.kindOf(o), o.GetName())
	return c.Client.Update(ctx, o, opts...)
}

func (c *counted) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	c.note("DELETE", c.kindOf(o), o.GetName())
	return c.Client.Delete(ctx, o, opts...)
}

func (c *counted) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	c.note("PATCH", c.kindOf(o), o.GetName())
	return c.Client.Patch(ctx, o, patch, opts...)
}

// live counts the reads that the engine sends to the API server.
type live struct{ *counted }

func (l live) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	l.note("GET", l.kindOf(o), key.Name)
	return l.Client.Get(ctx, key, o, opts...)
}

func (l live) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	l.note("LIST", l.kindOf(list), "")
	return l.Client.List(ctx, list, opts...)
}

// object is an object on the API server.
type object struct {
	gk  schema.GroupKind
	key client.ObjectKey
}

func (o object) String() string {
	name := o.key.Name
	if o.key.Namespace != "" {
		name = o.key.Namespace + "/" + name
	}
	return o.gk.Kind + " " + name
}

// temporary are kinds that the API server itself creates and deletes.
var temporary = []string{"Event", "Lease", "LeaseCandidate", "APIService", "IPAddress"} //nolint:gochecknoglobals // a table

// objects returns the metadata of all objects on the server, without those that the API server manages itself.
func (s *Server) objects(ctx context.Context) (map[object]*metav1.PartialObjectMetadata, error) {
	lists, err := discovery.ServerPreferredResources(s.discovery)
	if failed := (*discovery.ErrGroupDiscoveryFailed)(nil); err != nil && !errors.As(err, &failed) {
		return nil, err
	}
	found := map[object]*metav1.PartialObjectMetadata{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for i := range list.APIResources {
			r := &list.APIResources[i]
			if !slices.Contains(r.Verbs, "list") || slices.Contains(temporary, r.Kind) {
				continue
			}
			items := &metav1.PartialObjectMetadataList{}
			items.SetGroupVersionKind(gv.WithKind(r.Kind + "List"))
			err := s.admin.List(ctx, items)
			if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsServiceUnavailable(err) {
				continue // its definition is not served yet, or no longer
			}
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", r.Name, err)
			}
			for j := range items.Items {
				item := &items.Items[j]
				item.SetGroupVersionKind(gv.WithKind(r.Kind))
				id := object{gk: schema.GroupKind{Group: gv.Group, Kind: r.Kind}, key: client.ObjectKeyFromObject(item)}
				found[id] = item
			}
		}
	}
	return found, nil
}

// collect deletes what the controllers of a cluster would delete: dependents of owners that are gone, and the content of terminating
// namespaces. It also removes the finalizers that the volume controllers remove.
func (s *Server) collect(ctx context.Context) error {
	all, err := s.objects(ctx)
	if err != nil {
		return err
	}
	uids, terminating, full := map[types.UID]bool{}, map[string]bool{}, map[string]bool{}
	for id, o := range all {
		uids[o.UID] = true
		if id.gk == (schema.GroupKind{Kind: "Namespace"}) && o.DeletionTimestamp != nil {
			terminating[o.Name] = true
		}
	}
	for id, o := range all {
		full[id.key.Namespace] = true
		orphaned := len(o.OwnerReferences) > 0 && !slices.ContainsFunc(o.OwnerReferences, func(r metav1.OwnerReference) bool { return uids[r.UID] })
		if o.DeletionTimestamp == nil && (orphaned || terminating[id.key.Namespace]) {
			if err := s.admin.Delete(ctx, o, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
		if o.DeletionTimestamp != nil && slices.ContainsFunc(o.Finalizers, ofVolumes) {
			patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			if err := s.admin.Patch(ctx, o, patch); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	for name := range maps.Keys(terminating) {
		if full[name] {
			continue
		}
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := s.admin.SubResource("finalize").Update(ctx, ns); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func ofVolumes(finalizer string) bool {
	return finalizer == "kubernetes.io/pvc-protection" || finalizer == "kubernetes.io/pv-protection"
}

// settle collects until the objects on the server are the wanted ones, or time is up. It returns what is left, and what is missing.
func (s *Server) settle(ctx context.Context, want map[object]*metav1.PartialObjectMetadata) (left, missing []string, err error) {
	err = wait.PollUntilContextTimeout(ctx, pause, patience, true, func(ctx context.Context) (bool, error) {
		if err := s.collect(ctx); err != nil {
			return false, err
		}
		now, err := s.objects(ctx)
		if err != nil {
			return false, err
		}
		left, missing = without(now, want), without(want, now)
		return len(left) == 0 && len(missing) == 0, nil
	})
	if wait.Interrupted(err) {
		err = nil
	}
	return left, missing, err
}

// terminating returns why CRDs that are being deleted still exist.
func (s *Server) terminating(ctx context.Context) string {
	crds := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := s.admin.List(ctx, crds); err != nil {
		return err.Error()
	}
	var out []string
	for i := range crds.Items {
		for _, c := range crds.Items[i].Status.Conditions {
			if c.Type == apiextensionsv1.Terminating {
				out = append(out, crds.Items[i].Name+": "+c.Reason+": "+c.Message)
			}
		}
	}
	return strings.Join(out, "; ")
}

// without returns the names of the objects in a that are not in b, or that are other objects there.
func without(a, b map[object]*metav1.PartialObjectMetadata) []string {
	var out []string
	for id, o := range a {
		if other, has := b[id]; !has || other.UID != o.UID {
			out = append(out, id.String())
		}
	}
	slices.Sort(out)
	return out
}
