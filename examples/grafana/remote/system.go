package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
)

// API describes the HTTP API of one kind of resources with the desired state S and the observed state O.
type API[S, O any] struct {
	// Kind is the name of the kind.
	Kind string
	// Path is the path of the resources, to which the uid is added.
	Path string
	// Put creates or replaces a resource.
	Put func(ctx context.Context, c Client, uid string, spec S) error
	// Same reports whether the observed state matches the desired one.
	Same func(spec S, observed O) bool
}

// Resources are the resources of one kind in all instances. A key is namespace/name of the instance and uid of the resource.
type Resources[S, O any] struct {
	*external.Kind[S, State[O]]

	system *system[S, O]
}

// State is the observed state of a resource. It is unknown if the instance did not answer.
type State[O any] struct {
	Known bool `json:"known,omitempty"`
	Value O    `json:"value,omitzero"`
}

// NewResources returns the resources of a kind. Prepare has to be called before the first reconciliation.
func NewResources[S, O any](api API[S, O], http *http.Client) *Resources[S, O] {
	s := &system[S, O]{api: api, http: http}
	return &Resources[S, O]{system: s, Kind: external.New(api.Kind, s, external.Options{
		System: instanceOf,
		// An open circuit fails all reads of the instance, and with one failed read nothing is changed in any other instance.
		Failures: -1,
	})}
}

// Prepare takes the clients of the manager.
func (r *Resources[S, O]) Prepare(mgr manager.Manager) error {
	r.system.cached, r.system.live = mgr.GetClient(), mgr.GetAPIReader()
	return nil
}

// keyOf returns the key of a resource.
func keyOf(instance client.ObjectKey, uid string) string { return instance.String() + "/" + uid }

// instanceOf returns the namespace and the name of the instance in a key.
func instanceOf(key string) string { return key[:strings.LastIndex(key, "/")] }

type system[S, O any] struct {
	api          API[S, O]
	http         *http.Client
	cached, live client.Reader
}

// resource returns a client of the instance of a key, and the uid and the path of the resource.
func (s *system[S, O]) resource(ctx context.Context, key string) (c Client, uid, path string, err error) {
	instance, uid := instanceOf(key), key[strings.LastIndex(key, "/")+1:]
	namespace, name, _ := strings.Cut(instance, "/")
	grafana := &v1beta1.Grafana{}
	if err := s.cached.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, grafana); apierrors.IsNotFound(err) {
		return c, uid, path, fmt.Errorf("%w: Grafana %s is deleted", external.ErrSystemGone, instance)
	} else if err != nil {
		return c, uid, path, err
	}
	c, err = s.connect(ctx, grafana)
	return c, uid, s.api.Path + uid, err
}

// connect returns a client with the credentials of an instance.
func (s *system[S, O]) connect(ctx context.Context, grafana *v1beta1.Grafana) (Client, error) {
	key, user, password := grafana.Credentials()
	c := Client{URL: grafana.AdminURL(), HTTP: s.http}
	return c, errors.Join(s.read(ctx, grafana.Namespace, key, &c.Token), s.read(ctx, grafana.Namespace, user, &c.User),
		s.read(ctx, grafana.Namespace, password, &c.Password))
}

// read reads a value from a Secret. The cache has the Secrets of selected instances; a resource may have to be removed from another one.
func (s *system[S, O]) read(ctx context.Context, namespace string, ref *corev1.SecretKeySelector, into *string) error {
	if ref == nil {
		return nil
	}
	secret, at := &corev1.Secret{}, client.ObjectKey{Namespace: namespace, Name: ref.Name}
	if err := s.cached.Get(ctx, at, secret); err != nil {
		if err := s.live.Get(ctx, at, secret); err != nil {
			return err
		}
	}
	value, exists := secret.Data[ref.Key]
	if !exists {
		return health.NewError(health.Auth, "CredentialsMissing",
			fmt.Sprintf("Secret %s/%s has no key %s with the credentials of Grafana", namespace, ref.Name, ref.Key), nil)
	}
	*into = string(value)
	return nil
}

// Observe returns the resource. If the instance does not answer, the state is unknown and no error: a failed read would prevent
// changes in all other instances. Ensure then reports the error.
func (s *system[S, O]) Observe(ctx context.Context, key string) (state State[O], err error) {
	c, _, path, err := s.resource(ctx, key)
	if err == nil {
		err = c.Call(ctx, http.MethodGet, path, nil, &state.Value)
	}
	if IsNotFound(err) {
		return state, fmt.Errorf("%s: %w", key, external.ErrNotFound)
	}
	if err != nil {
		log.FromContext(ctx).Info("the state of a resource in Grafana is unknown", "resource", key, "error", err.Error())
		return State[O]{}, nil
	}
	state.Known = true
	return state, nil
}

// Ensure creates or replaces the resource.
func (s *system[S, O]) Ensure(ctx context.Context, key string, spec S) (state State[O], err error) {
	c, uid, _, err := s.resource(ctx, key)
	if err == nil {
		err = s.api.Put(ctx, c, uid, spec)
	}
	return state, err
}

// Remove removes the resource.
func (s *system[S, O]) Remove(ctx context.Context, key string) error {
	c, _, path, err := s.resource(ctx, key)
	if err == nil {
		err = c.Call(ctx, http.MethodDelete, path, nil, nil)
	}
	if IsNotFound(err) {
		return nil
	}
	return err
}

// UpToDate implements external.System.
func (s *system[S, O]) UpToDate(spec S, state State[O]) bool {
	return state.Known && s.api.Same(spec, state.Value)
}
