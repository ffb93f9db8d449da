package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
)

var env = &environment.Environment{}

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	env.Scheme = runtime.NewScheme()
	if err := errors.Join(clientscheme.AddToScheme(env.Scheme), apiextensionsv1.AddToScheme(env.Scheme)); err != nil {
		panic(err)
	}
	os.Exit(env.Main(m))
}

// world is a webhook service on this machine, with the objects that refer to it.
type world struct {
	client.Client
	*testing.T
	service types.NamespacedName
	port    int
	hook    *admissionregistrationv1.ValidatingWebhookConfiguration
	crd     *apiextensionsv1.CustomResourceDefinition
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env.Require(t)
	w := &world{Client: env.Client(), T: t, port: free(t), service: types.NamespacedName{Namespace: env.Namespace(t), Name: "webhooks"}}
	namespace, name := w.service.Namespace, w.service.Name
	to := func(path string) *admissionregistrationv1.ServiceReference {
		return &admissionregistrationv1.ServiceReference{Namespace: namespace, Name: name, Path: &path, Port: new(int32(w.port))}
	}
	w.hook = &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace + ".example.com"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "first.example.com", ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: to("/validate")},
			AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionregistrationv1.SideEffectClassNone),
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{"CREATE"},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}
	w.hook.Webhooks = append(w.hook.Webhooks, *w.hook.Webhooks[0].DeepCopy())
	w.hook.Webhooks[1].Name = "second.example.com"
	w.crd = book(namespace, to("/convert"))
	external := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}
	for _, object := range []client.Object{external, w.hook, w.crd} {
		if err := w.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := errors.Join(w.Delete(context.WithoutCancel(t.Context()), w.hook), w.Delete(context.WithoutCancel(t.Context()), w.crd)); err != nil {
			t.Error(err)
		}
	})
	return w
}

// book returns a CRD with two versions. The service converts between them.
func book(group string, to *admissionregistrationv1.ServiceReference) *apiextensionsv1.CustomResourceDefinition {
	group += ".example.com"
	open := &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "books." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "books", Singular: "book", Kind: "Book", ListKind: "BookList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				{Name: "v1", Served: true, Storage: true, Schema: open}, {Name: "v2", Served: true, Schema: open},
			},
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ConversionReviewVersions: []string{"v1"},
					ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{
						Namespace: to.Namespace, Name: to.Name, Path: to.Path, Port: to.Port,
					}},
				},
			},
		},
	}
}

// convert changes only the version.
func convert(answer http.ResponseWriter, request *http.Request) {
	review := &apiextensionsv1.ConversionReview{}
	if err := json.NewDecoder(request.Body).Decode(review); err != nil {
		http.Error(answer, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, given := range review.Request.Objects {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(given.Raw); err != nil {
			http.Error(answer, err.Error(), http.StatusBadRequest)
			return
		}
		object.SetAPIVersion(review.Request.DesiredAPIVersion)
		review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: object})
	}
	review.Request = nil
	_ = json.NewEncoder(answer).Encode(review) //nolint:errchkjson // its objects are unstructured content
}

// closing closes the connection after each request, so that each request starts with a TLS handshake.
func closing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		next.ServeHTTP(w, r)
	})
}

// run runs a replica that serves at the port until the test ends.
func (w *world) run(port int, policy policy) *Keeper {
	w.Helper()
	live, err := client.NewWithWatch(env.Config(), client.Options{Scheme: env.Scheme})
	if err != nil {
		w.Fatal(err)
	}
	keeper := New(Config{Client: live, Service: w.service, Clients: []Client{{Validating, w.hook.Name}, {CRD, w.crd.Name}}})
	keeper.policy = policy
	server := keeper.Serve(webhook.NewServer(webhook.Options{Port: port, TLSOpts: []func(*tls.Config){
		keeper.Configure, func(c *tls.Config) { c.NextProtos = nil },
	}}))
	server.Register("/validate", closing(&admission.Webhook{Handler: admission.HandlerFunc(
		func(context.Context, admission.Request) admission.Response { return admission.Allowed("") })}))
	server.Register("/convert", closing(http.HandlerFunc(convert)))
	ctx, stop := context.WithCancel(context.WithoutCancel(w.Context()))
	var running sync.WaitGroup
	running.Go(func() {
		if err := server.Start(ctx); err != nil {
			w.Errorf("the server ended with %v", err)
		}
	})
	w.Cleanup(func() { stop(); running.Wait() })
	return keeper
}

func free(t *testing.T) int {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func (w *world) eventually(what string, try func() error) {
	w.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("%s: %v", what, err)
		}
	}
}

// admitted creates an object, which calls the admission webhooks.
func (w *world) admitted() error {
	return w.Create(w.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.service.Namespace, GenerateName: "a-"}}, client.DryRunAll)
}

func (w *world) book(version string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(w.crd.Spec.Group + "/" + version)
	object.SetKind("Book")
	object.SetNamespace(w.service.Namespace)
	object.SetName("novel")
	return object
}

// converted reads an object in the version that is not stored, which calls the conversion webhook.
func (w *world) converted() error {
	return w.Get(w.Context(), client.ObjectKeyFromObject(w.book("v2")), w.book("v2"))
}

// serial returns the serial number of the certificate at the port, or an error if clients do not trust it.
func (w *world) serial(port int) (string, error) {
	if err := w.Get(w.Context(), client.ObjectKeyFromObject(w.hook), w.hook); err != nil {
		return "", err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.hook.Webhooks[1].ClientConfig.CABundle)
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "webhooks." + w.service.Namespace + ".svc", MinVersion: tls.VersionTLS12}}
	connection, err := dialer.DialContext(w.Context(), "tcp", net.JoinHostPort("localhost", strconv.Itoa(port)))
	if err != nil {
		return "", err
	}
	defer connection.Close()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String(), nil
}

// TestRenewal checks that no webhook call and no conversion fails while certificates are renewed repeatedly, with a handshake for
// each request, and that two replicas serve the same certificate afterwards.
func TestRenewal(t *testing.T) {
	w := newWorld(t)
	hasty := policy{lifetime: 24 * time.Hour, renewal: 2 * time.Second, settling: time.Second}
	other := free(t)
	keeper := w.run(w.port, hasty)
	w.run(other, hasty)
	w.eventually("the first call", w.admitted)
	w.eventually("readiness", func() error { return keeper.Check(nil) })
	w.eventually("a book", func() error { return client.IgnoreAlreadyExists(w.Create(t.Context(), w.book("v1"))) })
	w.eventually("the first conversion", w.converted)

	var seen []string
	for deadline := time.Now().Add(time.Minute); len(seen) < 4; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d certificates were served within a minute", len(seen))
		}
		if err := errors.Join(w.admitted(), w.converted()); err != nil {
			t.Fatalf("with %d certificates: %v", len(seen), err)
		}
		serial, err := w.serial(w.port)
		if err != nil {
			t.Fatalf("with %d certificates: %v", len(seen), err)
		}
		if _, err := w.serial(other); err != nil {
			t.Fatalf("the other replica, with %d certificates: %v", len(seen), err)
		}
		if !slices.Contains(seen, serial) {
			seen = append(seen, serial)
		}
	}
	w.eventually("one certificate", func() error {
		one, err := w.serial(w.port)
		two, otherErr := w.serial(other)
		if one != two {
			return errors.Join(errors.New("the replicas serve two"), err, otherErr)
		}
		return errors.Join(err, otherErr)
	})
}

// TestRestored checks that deleted objects are restored. A new certificate replaces all trusted ones if the Secret was deleted.
func TestRestored(t *testing.T) {
	w := newWorld(t)
	w.run(w.port, standard())
	w.eventually("the first call", w.admitted)
	first, err := w.serial(w.port)
	if err != nil {
		t.Fatal(err)
	}
	empty := func(object client.Object, patch string) {
		t.Helper()
		if err := w.Patch(t.Context(), object, client.RawPatch(types.JSONPatchType, []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	empty(w.hook, `[{"op":"remove","path":"/webhooks/0/clientConfig/caBundle"},{"op":"remove","path":"/webhooks/1/clientConfig/caBundle"}]`)
	empty(w.crd, `[{"op":"remove","path":"/spec/conversion/webhook/clientConfig/caBundle"}]`)
	w.eventually("the bundles", func() error {
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(w.crd), w.crd); err != nil {
			return err
		}
		if len(w.crd.Spec.Conversion.Webhook.ClientConfig.CABundle) == 0 {
			return errors.New("the CRD trusts nothing")
		}
		return w.admitted()
	})
	if again, err := w.serial(w.port); err != nil || again != first {
		t.Errorf("another certificate is served: %v", err)
	}

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.service.Namespace, Name: w.service.Name}}
	if err := w.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	w.eventually("another certificate", func() error {
		if again, err := w.serial(w.port); err != nil || again == first {
			return errors.Join(errors.New("not yet"), err)
		}
		return w.admitted()
	})
	if trusted := parseBundle(w.hook.Webhooks[0].ClientConfig.CABundle); len(trusted) != 1 {
		t.Errorf("%d certificates are trusted, want the new one", len(trusted))
	}
}
