package certificate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The intervals of updates: the first and the longest after failures, and the longest after a success.
const (
	retryFirst = 200 * time.Millisecond
	retryMost  = 30 * time.Second
	lookMost   = 12 * time.Hour
	// lookTime limits the duration of an update.
	lookTime = time.Minute
)

// Config configures a Keeper. All fields except Clients and Expires are required.
type Config struct {
	// Client reads and writes without a cache, which would list all Secrets.
	Client client.WithWatch
	// Logger logs changes and failures.
	Logger logr.Logger
	// Service is the namespace and name of the service of the webhook server, and of the Secret.
	Service types.NamespacedName
	// Clients are the objects that configure calls of the server.
	Clients []Client
	// Expires is called with the end of the served certificate. Optional.
	Expires func(time.Time)
}

// Keeper maintains the certificate of a webhook server. Create it with [New]. It is safe for concurrent use.
type Keeper struct {
	Config
	policy policy
	now    func() time.Time

	served atomic.Pointer[tls.Certificate]
	wake   chan struct{}

	mu      sync.Mutex
	trusted bool  // by all clients, at least once
	failure error // of the last update
}

// New returns a keeper. Run it with [Keeper.Start].
func New(config Config) *Keeper {
	return &Keeper{
		Config: config, policy: standard(), now: time.Now, //nolint:forbidigo // tests of the package replace the clock
		wake: make(chan struct{}, 1), failure: errors.New("it was not made yet"),
	}
}

// hosts returns the host names with which the API server calls the service.
func (k *Keeper) hosts() []string {
	name := k.Service.Name + "." + k.Service.Namespace + ".svc"
	return []string{name, name + ".cluster.local"}
}

// Configure makes a server use the current certificate in each handshake.
func (k *Keeper) Configure(config *tls.Config) {
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		if served := k.served.Load(); served != nil {
			return served, nil
		}
		return nil, k.missing()
	}
}

// Check is a readiness check: it fails until the API server can call the webhook server.
func (k *Keeper) Check(*http.Request) error {
	k.mu.Lock()
	trusted := k.trusted
	k.mu.Unlock()
	if trusted {
		return nil
	}
	return k.missing()
}

func (k *Keeper) missing() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return fmt.Errorf("the certificate of service %s is not in force: %w", k.Service, k.failure)
}

// Start maintains the certificate until ctx is done.
func (k *Keeper) Start(ctx context.Context) error {
	var watches sync.WaitGroup
	defer watches.Wait()
	k.watch(ctx, &watches)
	timer := time.NewTimer(0)
	defer timer.Stop()
	retry := retryFirst
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.wake:
		case <-timer.C:
		}
		due, err := k.look(ctx)
		wait := min(due.Sub(k.now()), lookMost)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			retry = retryFirst
		case apierrors.IsConflict(err): // another replica wrote first
			wait = retryFirst
		default:
			k.Logger.Error(err, "the certificate of the webhooks is not kept", "service", k.Service)
			wait, retry = retry, min(2*retry, retryMost) //nolint:mnd // doubled
		}
		timer.Reset(max(wait, 0))
	}
}

// look updates the Secret, the clients and the served certificate, and returns the time of the next update.
func (k *Keeper) look(ctx context.Context) (due time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	defer func() { k.looked(err) }()
	stored, err := k.secret(ctx)
	if err != nil {
		return due, err
	}
	current, err := k.store(ctx, stored, false)
	if err != nil {
		return due, err
	}
	bundle := encodeBundle(current.trusted)
	var errs []error
	for _, c := range k.Clients {
		errs = append(errs, c.trust(ctx, k.Client, bundle))
	}
	if err := errors.Join(errs...); err != nil {
		return due, err
	}
	if current, err = k.store(ctx, stored, true); err != nil {
		return due, err
	}
	return k.policy.due(current), nil
}

func (k *Keeper) looked(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failure, k.trusted = err, k.trusted || err == nil
}

// secret reads the Secret, and creates it if it is missing.
func (k *Keeper) secret(ctx context.Context) (*corev1.Secret, error) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Service.Namespace, Name: k.Service.Name}}
	err := k.Client.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	if !apierrors.IsNotFound(err) {
		return secret, wrap(err, "read Secret %s", k.Service)
	}
	if err = k.Client.Create(ctx, secret); apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("no Secret %s: apply the manifests of the installation again, which have it without data: %w", k.Service, err)
	}
	return secret, wrap(err, "create Secret %s", k.Service)
}

// store advances the state of the Secret, writes it if it changes, and serves its certificate.
func (k *Keeper) store(ctx context.Context, secret *corev1.Secret, everywhere bool) (state, error) {
	before := parseState(secret.Data)
	after, err := k.policy.advance(before, k.hosts(), k.now(), everywhere)
	if err != nil {
		return after, err
	}
	if data := after.data(); !maps.EqualFunc(data, secret.Data, func(a, b []byte) bool { return string(a) == string(b) }) {
		secret.Data = data
		if err := k.Client.Update(ctx, secret); err != nil {
			return after, fmt.Errorf("store the certificate in Secret %s: %w", k.Service, err)
		}
	}
	if k.Expires != nil {
		k.Expires(after.served.parsed.NotAfter)
	}
	if former := k.served.Swap(after.served.serving); former == nil || !reflect.DeepEqual(former.Certificate, after.served.serving.Certificate) {
		k.Logger.Info("serving webhooks with a certificate", "service", k.Service,
			"serial", after.served.parsed.SerialNumber.String(), "expires", after.served.parsed.NotAfter)
	}
	return after, nil
}

func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
