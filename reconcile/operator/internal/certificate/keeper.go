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

// The waits between looks: after a failure, growing, and at most.
const (
	retryFirst = 200 * time.Millisecond
	retryMost  = 30 * time.Second
	lookMost   = 12 * time.Hour
	// lookTime is how long a look may take.
	lookTime = time.Minute
)

// Config is what a keeper works with. Everything is required but Clients and Expires.
type Config struct {
	// Client reads and writes live; a cache would ask for all Secrets.
	Client client.WithWatch
	// Logger takes what changes and what fails.
	Logger logr.Logger
	// Service is in front of the webhook server. The Secret has its namespace and name.
	Service types.NamespacedName
	// Clients are the objects that name the server.
	Clients []Client
	// Expires receives when the served certificate ends. Nil receives nothing.
	Expires func(time.Time)
}

// Keeper keeps the certificate of a webhook server. It is made by [New] and safe for concurrent use.
type Keeper struct {
	Config
	policy policy
	now    func() time.Time

	served atomic.Pointer[tls.Certificate]
	wake   chan struct{}

	mu      sync.Mutex
	trusted bool  // by all clients, once
	failure error // of the last look
}

// New returns a keeper. [Keeper.Start] has to run.
func New(config Config) *Keeper {
	return &Keeper{
		Config: config, policy: standard(), now: time.Now, //nolint:forbidigo // tests of the package set another one
		wake: make(chan struct{}, 1), failure: errors.New("it was not made yet"),
	}
}

// hosts are the names by which the API server calls the service.
func (k *Keeper) hosts() []string {
	name := k.Service.Name + "." + k.Service.Namespace + ".svc"
	return []string{name, name + ".cluster.local"}
}

// Configure lets a server serve the certificate that is in force at each handshake.
func (k *Keeper) Configure(config *tls.Config) {
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		if served := k.served.Load(); served != nil {
			return served, nil
		}
		return nil, k.missing()
	}
}

// Check is a check of readiness: the API server can call the webhook server.
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

// Start keeps the certificate until ctx ends.
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
		case apierrors.IsConflict(err): // another replica was first
			wait = retryFirst
		default:
			k.Logger.Error(err, "the certificate of the webhooks is not kept", "service", k.Service)
			wait, retry = retry, min(2*retry, retryMost) //nolint:mnd // doubled
		}
		timer.Reset(max(wait, 0))
	}
}

// look makes what is there what should be there, and returns when to look again.
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

// secret reads the Secret, and makes it where it is missing.
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

// store advances the state that the Secret has, stores it where it changes, and serves what it has.
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
