package aimservice

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/routing/claims"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

func in(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name)}
}

// reader returns a fake client that finds models by image. It stores copies, because the fake client writes into the
// objects that it receives.
func reader(t *testing.T, objects ...client.Object) client.Reader {
	t.Helper()
	copies := make([]client.Object, len(objects))
	for i, object := range objects {
		copies[i] = object.DeepCopyObject().(client.Object) //nolint:errcheck,forcetypeassert // a copy has its type
	}
	scheme := runtime.NewScheme()
	if err := aimv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(copies...).
		WithIndex(&aimv1alpha1.AIMModel{}, imageIndex, controller.Values(func(m *aimv1alpha1.AIMModel) []string { return imageOf(m.Spec) })).
		WithIndex(
			&aimv1alpha1.AIMClusterModel{}, imageIndex,
			controller.Values(func(m *aimv1alpha1.AIMClusterModel) []string { return imageOf(m.Spec) }),
		).
		WithIndex(
			&aimv1alpha1.AIMServiceTemplate{}, modelNameIndex,
			controller.Values(func(t *aimv1alpha1.AIMServiceTemplate) []string { return []string{t.Spec.ModelName} }),
		).
		WithIndex(&aimv1alpha1.AIMClusterServiceTemplate{}, modelNameIndex, controller.Values(func(t *aimv1alpha1.AIMClusterServiceTemplate) []string {
			return []string{t.Spec.ModelName}
		})).
		Build()
}

func aModel(name, image string, status aimv1alpha1.AIMStatus, sources ...aimv1alpha1.AIMModelSource) *aimv1alpha1.AIMModel {
	return &aimv1alpha1.AIMModel{
		ObjectMeta: in("ns", name), Spec: aimv1alpha1.AIMModelSpec{Image: image, ModelSources: sources},
		Status: aimv1alpha1.AIMModelStatus{Status: status},
	}
}

// TestModelOfAnImage checks that an image resolves to the only model with that image, and to none if several have it.
func TestModelOfAnImage(t *testing.T) {
	t.Parallel()
	image := "registry.example/model:1"
	service := &aimv1alpha1.AIMService{
		ObjectMeta: in("ns", "chat"), Spec: aimv1alpha1.AIMServiceSpec{Model: aimv1alpha1.AIMServiceModel{Image: &image}},
	}
	one, two := aModel("one", image, aimv1alpha1.AIMStatusReady), aModel("two", image, aimv1alpha1.AIMStatusReady)
	for name, tc := range map[string]struct {
		models []client.Object
		want   string
		err    error
	}{
		"one":     {models: []client.Object{one}, want: "one"},
		"several": {models: []client.Object{one, two}, err: ErrMultipleModelsFound},
		"none":    {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, got := fetchModel(t.Context(), reader(t, tc.models...), service), ""
			if m := found.resolved(); m != nil {
				got = m.GetName()
			}
			if got != tc.want || !errors.Is(found.err, tc.err) || (found.ImageURI == image) != (name == "none") {
				t.Errorf("got model %q, image of the model to create %q, error %v; want %q, %v", got, found.ImageURI, found.err, tc.want, tc.err)
			}
		})
	}
}

// TestModelInUse checks that a service keeps its model while the model is ready, even if its spec would now select
// another one.
func TestModelInUse(t *testing.T) {
	t.Parallel()
	wanted := "wanted"
	for status, want := range map[aimv1alpha1.AIMStatus]string{aimv1alpha1.AIMStatusReady: "used", aimv1alpha1.AIMStatusFailed: "wanted"} {
		service := &aimv1alpha1.AIMService{
			ObjectMeta: in("ns", "chat"), Spec: aimv1alpha1.AIMServiceSpec{Model: aimv1alpha1.AIMServiceModel{Name: &wanted}},
			Status: aimv1alpha1.AIMServiceStatus{ResolvedModel: &aimv1alpha1.AIMResolvedReference{Name: "used", Namespace: "ns"}},
		}
		r := reader(t, aModel("used", "a", status), aModel(wanted, "b", aimv1alpha1.AIMStatusReady))
		if got := fetchModel(t.Context(), r, service).resolved().GetName(); got != want {
			t.Errorf("the model in use is %s: got %q, want %q", status, got, want)
		}
	}
}

// TestCustomModelOfAnotherEndpoint checks that a model with weights from another S3 endpoint is not reused.
func TestCustomModelOfAnotherEndpoint(t *testing.T) {
	t.Parallel()
	source := func(endpoint string) aimv1alpha1.AIMModelSource {
		return aimv1alpha1.AIMModelSource{
			ModelID: "m", SourceURI: "s3://bucket/m", Env: []corev1.EnvVar{{Name: "AWS_ENDPOINT_URL", Value: endpoint}},
		}
	}
	r := reader(t, aModel("there", "base", aimv1alpha1.AIMStatusReady, source("https://a")))
	for endpoint, want := range map[string]bool{"https://a": true, "https://b": false} {
		custom := &aimv1alpha1.AIMServiceModelCustom{BaseImage: "base", ModelSources: []aimv1alpha1.AIMModelSource{source(endpoint)}}
		found, err := FindMatchingCustomModel(t.Context(), r, "ns", custom)
		if err != nil || (found != nil) != want {
			t.Errorf("from %s: found %t, %v; want %t", endpoint, found != nil, err, want)
		}
	}
}

func aCandidate(name string, change func(c *TemplateCandidate)) TemplateCandidate {
	c := TemplateCandidate{
		Name: name, Namespace: "ns", Scope: aimv1alpha1.AIMResolutionScopeNamespace,
		Status: aimv1alpha1.AIMServiceTemplateStatus{
			Status:  aimv1alpha1.AIMStatusReady,
			Profile: &aimv1alpha1.AIMProfile{Metadata: aimv1alpha1.AIMProfileMetadata{Type: aimv1alpha1.AIMProfileTypeOptimized}},
		},
	}
	change(&c)
	return c
}

// TestChosenTemplate checks that templates that are not ready or not optimized are skipped, and that templates of the
// namespace precede those of the cluster.
func TestChosenTemplate(t *testing.T) {
	t.Parallel()
	plain := aCandidate("plain", func(*TemplateCandidate) {})
	ofCluster := aCandidate("cluster", func(c *TemplateCandidate) { c.Namespace, c.Scope = "", aimv1alpha1.AIMResolutionScopeCluster })
	pending := aCandidate("pending", func(c *TemplateCandidate) { c.Status.Status = aimv1alpha1.AIMStatusPending })
	unoptimized := aCandidate("unoptimized", func(c *TemplateCandidate) {
		c.Status.Profile = &aimv1alpha1.AIMProfile{Metadata: aimv1alpha1.AIMProfileMetadata{Type: aimv1alpha1.AIMProfileTypeUnoptimized}}
	})
	for name, tc := range map[string]struct {
		candidates []TemplateCandidate
		allow      bool
		want       string
		equals     int
	}{
		"not ready":                             {candidates: []TemplateCandidate{pending}},
		"unoptimized not allowed":               {candidates: []TemplateCandidate{unoptimized}},
		"unoptimized allowed":                   {candidates: []TemplateCandidate{unoptimized}, allow: true, want: "unoptimized", equals: 1},
		"optimized is preferred":                {candidates: []TemplateCandidate{unoptimized, plain}, allow: true, want: "plain", equals: 1},
		"the namespace is preferred":            {candidates: []TemplateCandidate{ofCluster, plain}, want: "plain", equals: 1},
		"the cluster if the namespace has none": {candidates: []TemplateCandidate{ofCluster, pending}, want: "cluster", equals: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			best, equals, _, _ := SelectTemplate(tc.candidates, nil, nil, tc.allow)
			got := ""
			if best != nil {
				got = best.Name
			}
			if got != tc.want || equals != tc.equals {
				t.Errorf("got %q, %d tied; want %q, %d", got, equals, tc.want, tc.equals)
			}
		})
	}
}

// TestTemplatesOfOthers checks that a template derived for one service is no candidate for another, while a template
// created by a model is.
func TestTemplatesOfOthers(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{"AIMService": false, "AIMModel": true} {
		made := &aimv1alpha1.AIMServiceTemplate{ObjectMeta: in("ns", "t"), Status: aCandidate("t", func(*TemplateCandidate) {}).Status}
		made.Spec.ModelName, made.OwnerReferences = "m", controlledBy("other")
		made.OwnerReferences[0].Kind = kind
		f := selectTemplateForModel(t.Context(), reader(t, made), &aimv1alpha1.AIMService{ObjectMeta: in("ns", "chat")}, "m")
		if got := f.base() != nil; got != want {
			t.Errorf("of an %s: chosen %t, want %t (%v)", kind, got, want, f.selection)
		}
	}
}

// TestDerivedTemplateHasNoProfile checks that a derived template drops the profile of its base, which is for other
// parameters.
func TestDerivedTemplateHasNoProfile(t *testing.T) {
	t.Parallel()
	precision := aimv1alpha1.AIMPrecision("fp8")
	base := &aimv1alpha1.AIMServiceTemplate{ObjectMeta: in("ns", "base")}
	base.Spec.ProfileID = "profile"
	obs := ServiceObservation{service: &aimv1alpha1.AIMService{
		ObjectMeta: in("ns", "chat"), Spec: aimv1alpha1.AIMServiceSpec{Overrides: &aimv1alpha1.AIMServiceOverrides{
			AIMRuntimeParameters: aimv1alpha1.AIMRuntimeParameters{Precision: &precision},
		}},
	}}
	if got := obs.derivedTemplate(base).Spec; got.ProfileID != "" || *got.Precision != precision {
		t.Errorf("got profile %q and precision %q, want none and %q", got.ProfileID, *got.Precision, precision)
	}
}

func aCache(name string, change func(c *aimv1alpha1.AIMTemplateCache)) aimv1alpha1.AIMTemplateCache {
	c := aimv1alpha1.AIMTemplateCache{ObjectMeta: in("ns", name), Spec: aimv1alpha1.AIMTemplateCacheSpec{
		TemplateName: "t", TemplateScope: aimv1alpha1.AIMServiceTemplateScopeNamespace,
	}}
	change(&c)
	return c
}

func controlledBy(name string) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{
		APIVersion: aimv1alpha1.GroupVersion.String(), Kind: "AIMService", Name: name, UID: types.UID("ns/" + name),
		Controller: &yes,
	}}
}

// TestCacheOfTheService checks that a dedicated cache is used only by the service that controls it, and that each cache
// serves templates of one scope.
func TestCacheOfTheService(t *testing.T) {
	t.Parallel()
	of := func(owner string) func(c *aimv1alpha1.AIMTemplateCache) {
		return func(c *aimv1alpha1.AIMTemplateCache) {
			c.Spec.Mode, c.OwnerReferences = aimv1alpha1.TemplateCacheModeDedicated, controlledBy(owner)
		}
	}
	scoped := func(scope aimv1alpha1.AIMServiceTemplateScope) func(c *aimv1alpha1.AIMTemplateCache) {
		return func(c *aimv1alpha1.AIMTemplateCache) {
			c.Spec.Mode, c.Spec.TemplateScope = aimv1alpha1.TemplateCacheModeShared, scope
		}
	}
	tmpl := &aimv1alpha1.AIMServiceTemplate{ObjectMeta: in("ns", "t")}
	for name, tc := range map[string]struct {
		mode  aimv1alpha1.AIMCachingMode
		cache aimv1alpha1.AIMTemplateCache
		want  bool
	}{
		"its own":               {aimv1alpha1.CachingModeDedicated, aCache("c", of("chat")), true},
		"of another service":    {aimv1alpha1.CachingModeDedicated, aCache("c", of("other")), false},
		"shared":                {aimv1alpha1.CachingModeShared, aCache("c", scoped(aimv1alpha1.AIMServiceTemplateScopeNamespace)), true},
		"shared, unknown scope": {aimv1alpha1.CachingModeShared, aCache("c", scoped(aimv1alpha1.AIMServiceTemplateScopeUnknown)), true},
		"of a cluster template": {aimv1alpha1.CachingModeShared, aCache("c", scoped(aimv1alpha1.AIMServiceTemplateScopeCluster)), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := &aimv1alpha1.AIMService{ObjectMeta: in("ns", "chat")}
			service.Spec.Caching = &aimv1alpha1.AIMServiceCachingConfig{Mode: tc.mode}
			if got := findCache(service, tmpl, []aimv1alpha1.AIMTemplateCache{tc.cache}); (got != nil) != tc.want {
				t.Errorf("used: %t, want %t", got != nil, tc.want)
			}
		})
	}
}

// TestAbandonedCaches checks that deleting a service deletes the caches created for it that are still empty, but none if
// the users of the caches cannot be read.
func TestAbandonedCaches(t *testing.T) {
	t.Parallel()
	service := &aimv1alpha1.AIMService{ObjectMeta: in("ns", "chat")}
	made := func(status aimv1alpha1.AIMStatus) func(c *aimv1alpha1.AIMTemplateCache) {
		return func(c *aimv1alpha1.AIMTemplateCache) {
			c.Labels, c.Status.Status = map[string]string{serviceLabel: serviceLabelValue(service)}, status
		}
	}
	fetched := func() (f ServiceFetchResult) {
		f.caches.Value = &aimv1alpha1.AIMTemplateCacheList{Items: []aimv1alpha1.AIMTemplateCache{
			aCache("failed", made(aimv1alpha1.AIMStatusFailed)), aCache("ready", made(aimv1alpha1.AIMStatusReady)),
			aCache("other", func(*aimv1alpha1.AIMTemplateCache) {}),
		}}
		f.neighbours.Value = &aimv1alpha1.AIMServiceList{}
		return f
	}
	names := func(f ServiceFetchResult) (out []string) {
		for _, c := range f.abandoned(service) {
			out = append(out, c.Name)
		}
		return out
	}
	if diff := cmp.Diff([]string{"failed"}, names(fetched())); diff != "" {
		t.Errorf("abandoned (-want +got):\n%s", diff)
	}
	unread := fetched()
	unread.neighbours = reconcile.FetchResult[*aimv1alpha1.AIMServiceList]{Value: &aimv1alpha1.AIMServiceList{}, Error: errors.New("timeout")}
	if got := names(unread); got != nil {
		t.Errorf("reading the users failed, but %v are deleted", got)
	}
}

// TestPlannedParts checks that a running InferenceService is kept without its template, none starts before its weights
// are available, and a service that lost its path has no route.
func TestPlannedParts(t *testing.T) {
	t.Parallel()
	service := &aimv1alpha1.AIMService{ObjectMeta: in("ns", "chat")}
	runs := ServiceObservation{service: service}
	runs.isvc.Value = &kserve.InferenceService{ObjectMeta: in("ns", "runs")}
	tmpl := &aimv1alpha1.AIMServiceTemplate{
		ObjectMeta: in("ns", "t"), Status: aimv1alpha1.AIMServiceTemplateStatus{
			Status: aimv1alpha1.AIMStatusReady, ModelSources: []aimv1alpha1.AIMModelSource{{ModelID: "m"}},
		},
	}
	fresh := func(status aimv1alpha1.AIMStatus) ServiceObservation {
		cache := aCache("c", func(c *aimv1alpha1.AIMTemplateCache) { c.Status.Status = status })
		obs := ServiceObservation{service: service, template: tmpl, model: aModel("m", "i", aimv1alpha1.AIMStatusReady), cache: &cache}
		obs.isvcName = "isvc"
		return obs
	}
	routed := ServiceObservation{service: service}
	routed.plannedRoute = &gatewayv1.HTTPRoute{ObjectMeta: in("ns", "route")}
	lost := routed
	lost.lostPaths = claims.Decisions{{}}
	for name, tc := range map[string]struct {
		obs  ServiceObservation
		want []string
	}{
		"runs without a template":    {runs, []string{"keep runs"}},
		"the cache is being created": {fresh(aimv1alpha1.AIMStatusProgressing), nil},
		"the cache is ready":         {fresh(aimv1alpha1.AIMStatusReady), []string{"apply isvc"}},
		"a path":                     {routed, []string{"apply route"}},
		"a path of another service":  {lost, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := (&ServiceReconciler{}).PlanResources(t.Context(), reconcile.ReconcileContext[*aimv1alpha1.AIMService]{}, tc.obs)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range plan.Children {
				verb := "apply "
				if plan.Children[i].Existing {
					verb = "keep "
				}
				if kind := plan.Children[i].Object.GetName(); kind != "" {
					got = append(got, verb+kind)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRouteOfTheService checks that the path of the service takes precedence over that of the runtime config.
func TestRouteOfTheService(t *testing.T) {
	t.Parallel()
	own, config := "/own", "/config"
	service := &aimv1alpha1.AIMService{
		ObjectMeta: in("ns", "chat"),
		Spec:       aimv1alpha1.AIMServiceSpec{Routing: &aimv1alpha1.AIMRuntimeRoutingConfig{PathTemplate: &own}},
	}
	runtimeConfig := &aimv1alpha1.AIMRuntimeConfigCommon{Routing: &aimv1alpha1.AIMRuntimeRoutingConfig{PathTemplate: &config}}
	if got, err := ResolveServiceRoutePath(service, runtimeConfig); err != nil || got != own {
		t.Errorf("got %q, %v; want %q", got, err, own)
	}
	service.Spec.Routing = nil
	if got, err := ResolveServiceRoutePath(service, runtimeConfig); err != nil || got != config {
		t.Errorf("without its own: got %q, %v; want %q", got, err, config)
	}
}
