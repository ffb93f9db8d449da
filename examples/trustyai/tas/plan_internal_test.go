package tas

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

// inDatabase returns a service with a database, and with its former file storage if its files are to be moved.
func inDatabase(moves bool) *v1.TrustyAIService {
	s := &v1.TrustyAIService{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}}
	s.Spec.Storage = v1.Storage{Format: v1.FormatDatabase, Size: "1Gi"}
	if moves {
		s.Spec.Storage.Folder, s.Spec.Data = "/data", &v1.Data{Filename: "data.csv"}
	}
	return s
}

// credentialsWith returns the credentials of a database with some values replaced.
func credentialsWith(changed map[string]string) *corev1.Secret {
	secret := &corev1.Secret{Data: map[string][]byte{}}
	for _, key := range databaseKeys {
		secret.Data[key] = []byte("x")
	}
	for key, text := range changed {
		secret.Data[key] = []byte(text)
	}
	return secret
}

// TestModels checks that models send their payloads to the service unless they send them elsewhere, also in the
// reconciliation after they were configured.
func TestModels(t *testing.T) {
	t.Parallel()
	model := func(name, mode string, logger *foreign.Logger) foreign.InferenceService {
		m := foreign.InferenceService{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, Annotations: map[string]string{modeAnnotation: mode},
		}}
		m.Spec.Predictor.Logger = logger
		return m
	}
	const here = "https://s.ns.svc.cluster.local"
	f := Fetched{}
	f.models.Value = &foreign.InferenceServiceList{Items: []foreign.InferenceService{
		model("new", "RawDeployment", nil), model("configured", "Standard", &foreign.Logger{Mode: "all", URL: here}),
		model("theirs", "RawDeployment", &foreign.Logger{URL: "https://else"}), model("off", "Serverless", nil), model("unknown", "", nil),
	}}
	m := observe(inDatabase(false), f)
	got := map[string]string{}
	for _, c := range m.contributions {
		if configured, ok := c.(*foreign.InferenceService); ok {
			got[c.GetName()] = configured.Spec.Predictor.Logger.URL
		}
	}
	if diff := cmp.Diff(map[string]string{"new": here, "configured": here}, got); diff != "" {
		t.Errorf("contributions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"theirs"}, m.taken); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}

// TestDatabase checks that credentials select a database only if none of them is missing or empty.
func TestDatabase(t *testing.T) {
	t.Parallel()
	for want, secret := range map[string]*corev1.Secret{
		"":                      credentialsWith(nil),
		"DBCredentialsNotFound": nil,
		"DBCredentialsError":    credentialsWith(map[string]string{"databasePassword": ""}),
	} {
		if got := database(reconcile.FetchResult[*corev1.Secret]{Value: secret}); got[0] != want {
			t.Errorf("got %q, want %q", got[0], want)
		}
	}
	secret := credentialsWith(nil)
	delete(secret.Data, "databaseName")
	if got := database(reconcile.FetchResult[*corev1.Secret]{Value: secret}); got[0] != "DBCredentialsError" {
		t.Errorf("without a name: got %q", got[0])
	}
}

// TestMove checks that files to be moved into the database are read from the volume, and that the annotation that
// requested the move is removed once a Deployment exists that can be recreated.
func TestMove(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		moves, asked, deployed bool
		volume, forgets        bool
	}{
		"a database from the start": {deployed: true},
		"a migration":               {moves: true, deployed: true, volume: true},
		"a requested migration":     {moves: true, asked: true, deployed: true, volume: true, forgets: true},
		"requested too early":       {moves: true, asked: true, volume: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := inDatabase(c.moves)
			if c.asked {
				s.Annotations = map[string]string{migration: ""}
			}
			f := Fetched{}
			f.credentials.Value = credentialsWith(nil)
			f.config.Value = &corev1.ConfigMap{Data: map[string]string{images.Service: "service:1", images.Proxy: "proxy:1"}}
			if c.deployed {
				f.deployment.Value = &appsv1.Deployment{}
			}
			plan := planned(t, s, f)
			volume := false
			for i := range plan.Children {
				_, isClaim := plan.Children[i].Object.(*corev1.PersistentVolumeClaim)
				volume = volume || isClaim && !plan.Children[i].Existing
			}
			if volume != c.volume || (plan.Owner != nil) != c.forgets {
				t.Errorf("volume %t, want %t; the owner changes: %+v, want so: %t", volume, c.volume, plan.Owner, c.forgets)
			}
		})
	}
}

// planned returns the plan of a service.
func planned(t *testing.T, s *v1.TrustyAIService, f Fetched) reconcile.PlanResult {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, v1.AddToScheme, foreign.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := manifests.Parse(templates, scheme, "templates/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := &Reconciler{"op", childrenOf(parsed), external.New("PayloadProcessor", &external.Edits[*appsv1.Deployment]{}, external.Options{})}
	plan, err := r.PlanResources(t.Context(), rcontext{Object: s}, r.ComposeState(t.Context(), rcontext{Object: s}, f))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestCrashes checks that a container crashes if it restarts repeatedly or has exited with an error.
func TestCrashes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state corev1.ContainerState
		want  bool
	}{
		"runs":                 {state: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		"creating":             {state: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}},
		"restarts":             {state: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}, want: true},
		"exit code 0":          {state: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
		"exit code 1":          {state: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}, want: true},
		"killed":               {state: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}}, want: true},
		"no termination state": {},
	} {
		pod := corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: server, State: c.state}}}}
		if got := anyContainer(&corev1.PodList{Items: []corev1.Pod{pod}}, crashes); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}
