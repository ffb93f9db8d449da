package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// PreviewPath is the path of previews on the metrics server, with the flags -serve-explanations and -metrics-secure. A POST
// with the parameters kind, namespace, name and output (table, diff or json; default diff) returns what the operator would
// do for the owner. The body is the owner as it would be, as YAML or JSON; an empty one means the owner as it is. The account
// of the token needs the permission to create the path and to update the owner. Values of objects that it may not get are
// masked.
const PreviewPath = "/debug/preview"

const (
	// servedTimeout limits a preview over HTTP.
	servedTimeout = 30 * time.Second
	// servedMost is the size of the largest manifest. The API server accepts smaller ones.
	servedMost = 3 << 20
)

// previewServer serves previews, one at a time: each runs phases of the author.
type previewServer struct {
	clients     kubernetes.Interface
	mapper      meta.RESTMapper
	controllers []*controller.Controller
	turn        chan struct{}
}

// servePreviews adds the handler to the metrics server if that authenticates requests.
func (p *process) servePreviews(mgr manager.Manager) error {
	if !p.explanations || !p.metricsSecure || p.metrics == off {
		return nil
	}
	clients, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("check who asks for previews: %w", err)
	}
	return mgr.AddMetricsServerExtraHandler(PreviewPath, &previewServer{
		clients: clients, mapper: mgr.GetRESTMapper(), controllers: p.Controllers, turn: make(chan struct{}, 1),
	})
}

// ServeHTTP implements http.Handler.
func (s *previewServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), servedTimeout)
	defer cancel()
	text, err := s.preview(ctx, w, r)
	if err == nil {
		_, _ = io.WriteString(w, text)
		return
	}
	status := http.StatusInternalServerError
	if known := apierrors.APIStatus(nil); errors.As(err, &known) {
		status = int(known.Status().Code)
	}
	http.Error(w, err.Error(), status)
}

func (s *previewServer) preview(ctx context.Context, w http.ResponseWriter, r *http.Request) (string, error) {
	who, known := accountOf(ctx)
	if !known { // the filter of the metrics server refuses such requests
		return "", apierrors.NewUnauthorized("a preview needs an account")
	}
	query := r.URL.Query()
	output := formDiff
	if value := query.Get("output"); value != "" {
		if err := output.Set(value); err != nil {
			return "", apierrors.NewBadRequest("output: " + err.Error())
		}
	}
	manifest, err := manifestOf(http.MaxBytesReader(w, r.Body, servedMost))
	if err != nil {
		return "", apierrors.NewBadRequest("the manifest: " + err.Error())
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return "", apierrors.NewTooManyRequests("another preview is running", 1)
	}
	report, err := controller.PreviewRunning(ctx, controller.RunningPreview{
		Kind: query.Get("kind"), Owner: types.NamespacedName{Namespace: query.Get("namespace"), Name: query.Get("name")}, Manifest: manifest,
		Access: func(ctx context.Context, verb string, kind schema.GroupVersionKind, object types.NamespacedName) error {
			return s.access(ctx, who, verb, kind, object)
		},
	}, s.controllers...)
	if err != nil {
		return "", err
	}
	return output.render(report)
}

// manifestOf returns the object of a body, nil for an empty one.
func manifestOf(body io.Reader) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	const buffer = 4096 // to detect JSON
	err := yaml.NewYAMLOrJSONDecoder(body, buffer).Decode(&u.Object)
	if errors.Is(err, io.EOF) || err == nil && len(u.Object) == 0 {
		return nil, nil //nolint:nilnil // no manifest
	}
	return u, err
}

// access returns an error unless the account has the permission for the object.
func (s *previewServer) access(
	ctx context.Context, who authenticationv1.UserInfo, verb string, kind schema.GroupVersionKind, object types.NamespacedName,
) error {
	mapping, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	resource := mapping.Resource
	may, err := permitted(ctx, s.clients, who, authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Verb: verb, Group: resource.Group, Version: resource.Version, Resource: resource.Resource, Namespace: object.Namespace, Name: object.Name,
	}})
	if err != nil {
		return err
	}
	if !may {
		return apierrors.NewForbidden(resource.GroupResource(), object.Name, fmt.Errorf("user %q needs the permission to %s it in namespace %q", //nolint:err113 // the reason
			who.Username, verb, object.Namespace))
	}
	return nil
}
