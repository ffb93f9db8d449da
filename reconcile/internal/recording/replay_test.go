package recording_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/recording"
)

// shop reads the Secret that the widget refers to and the ConfigMaps of its namespace, and plans from all of it.
type shop struct {
	message string // what the code puts into its child: the part that changes from one version to the next
	more    bool   // reads another object
}

type seen struct {
	password reconcile.FetchResult[*corev1.Secret]
	sources  reconcile.FetchResult[*corev1.ConfigMapList]
	referred bool
}

func (s seen) GetComponentHealth(context.Context) []health.Component {
	out := []health.Component{s.sources.Downstream("Sources", nil)}
	if s.referred {
		out = append(out, s.password.Upstream("Password", nil))
	}
	return out
}

func (s shop) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*widget.Widget]) (out seen) {
	if ref := rc.Object.Spec.Ref; ref != "" {
		out.referred = true
		out.password = reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: rc.Object.Namespace, Name: ref}, &corev1.Secret{})
	}
	out.sources = reconcile.FetchList(ctx, r, &corev1.ConfigMapList{},
		client.InNamespace(rc.Object.Namespace), client.MatchingLabels{"source": "yes"})
	if s.more {
		reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: rc.Object.Namespace, Name: "more"}, &corev1.ConfigMap{})
	}
	return out
}

func (s shop) PlanResources(
	_ context.Context, rc reconcile.ReconcileContext[*widget.Widget], o seen,
) (plan reconcile.PlanResult, _ error) {
	data := map[string]string{"message": s.message, "time": rc.Now.Format(time.RFC3339Nano)}
	if o.sources.OK() {
		data["sources"] = fmt.Sprint(len(o.sources.Value.Items))
	}
	if o.password.OK() && o.password.Value != nil {
		password := string(o.password.Value.Data["password"])
		plan.Apply(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: rc.Object.Name},
			StringData: map[string]string{"copy": password, "dsn": "db://u:" + password + "@host"},
		})
		data["checksum"] = fmt.Sprintf("%x", sha256.Sum256([]byte(password)))
	}
	plan.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: rc.Object.Name}, Data: data}, apply.Seed("data.message"))
	plan.RequeueAfter = time.Hour
	return plan, nil
}

// engine answers what the test says.
type engine struct {
	result apply.Result
	err    error
}

func (e *engine) Apply(_ context.Context, owner client.Object, _ apply.Plan) apply.Result {
	owner.SetResourceVersion("1000")
	owner.SetFinalizers([]string{"test/finalizer"})
	return e.result
}

func (e *engine) WriteStatus(context.Context, client.Object, client.Object, []string) (bool, error) {
	return e.err == nil, e.err
}

func (*engine) Rewrite(context.Context, client.Object, client.Object) (bool, error) {
	return false, nil
}
func (*engine) Confirm(context.Context, client.Object) error { return nil }
func (*engine) Forget(types.UID)                             {}

type announcer struct{}

func (announcer) Event(_ runtime.Object, _, _, _ string) {}

func scheme() *runtime.Scheme {
	out := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(out), widget.AddToScheme(out)); err != nil {
		panic(err)
	}
	return out
}

func owner(ref string) *widget.Widget {
	return &widget.Widget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", UID: "u", Generation: 2, ResourceVersion: "7"},
		Spec:       widget.Spec{Message: "a <b> & c", Ref: ref},
	}
}

func source(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"source": "yes"}}}
}

const password = "correct horse"

func secret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db", Annotations: map[string]string{
			"kubectl.kubernetes.io/last-applied-configuration": `{"stringData":{"password":"` + password + `"}}`,
		}},
		Data: map[string][]byte{"password": []byte(password), "again": []byte(password), "none": {}},
	}
}

// zone is one that is neither UTC nor that of the machine.
func zone() *time.Location { return time.FixedZone("", 5*3600+1800) }

// writers writes children and the status.
type writers interface {
	pipeline.Applier
	pipeline.StatusWriter
}

func config(s shop, w writers, objects ...client.Object) pipeline.Config[*widget.Widget, seen, seen] {
	return pipeline.Config[*widget.Widget, seen, seen]{
		Name: "shop", Reconciler: s, New: func() *widget.Widget { return &widget.Widget{} },
		Reader:  fake.NewClientBuilder().WithScheme(scheme()).WithObjects(objects...).Build(),
		Applier: w, StatusWriter: w, Recorder: announcer{},
		Clock: testingclock.NewFakePassiveClock(time.Date(2026, 1, 2, 3, 4, 5, 678, zone())),
	}
}

// recorded runs one pass and returns the text of its recording.
func recorded(t *testing.T, c pipeline.Config[*widget.Widget, seen, seen]) string {
	t.Helper()
	dir := t.TempDir()
	pass(t, c, recording.Options{Dir: dir})
	files := list(t, dir)
	if len(files) != 1 {
		t.Fatalf("want one recording, got %v", files)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func pass(t *testing.T, c pipeline.Config[*widget.Widget, seen, seen], options recording.Options) {
	t.Helper()
	recorder, err := recording.New(options)
	if err != nil {
		t.Fatal(err)
	}
	loop, err := pipeline.New(c)
	if err != nil {
		t.Fatal(err)
	}
	request := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "cart"}}
	if _, err := recording.Reconciler(loop, recorder, replaying()).Reconcile(t.Context(), request); err != nil {
		t.Logf("the pass returns %v", err)
	}
}

func replaying() recording.ReplayOptions { return recording.ReplayOptions{Scheme: scheme()} }

func list(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// replayed is the text of the replay by a version of the code.
func replayed(t *testing.T, s shop, text string) (string, error) {
	t.Helper()
	r, err := recording.Decode(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	out, missing := recording.Replay(t.Context(), config(s, nil), r, replaying())
	if out == nil {
		t.Fatal(missing)
	}
	data, err := out.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(data), missing
}

// Whatever the pass met, its replay by the same code is the same text, and by another one it is not.
func TestReplay(t *testing.T) {
	t.Parallel()
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "cart", errors.New("no right"))
	child := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	key := types.NamespacedName{Namespace: "shop", Name: "cart"}
	failed := func(err error) *engine {
		return &engine{result: apply.Result{RequeueAfter: time.Minute, Objects: []apply.ObjectResult{
			{Decision: apply.Decision{GVK: child, Key: key, Err: err}, Outcome: apply.OutcomeFailed},
		}}}
	}
	controlled := &metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "other", UID: "x"}
	for name, c := range map[string]struct {
		engine  *engine
		objects []client.Object
		want    []string // parts of the recording
	}{
		"no source": {&engine{}, []client.Object{owner("")}, []string{`"kind": "v1/ConfigMap"`, `"labels": "source=yes"`, `"sources": "0"`}},
		"sources in their order": {
			&engine{}, []client.Object{owner(""), source("b"), source("a")}, []string{`"sources": "2"`, `"a <b> & c"`},
		},
		"a missing reference blocks": {
			&engine{}, []client.Object{owner("db")}, []string{`"blocked": "ReferenceNotFound`, `"reason": "NotFound"`},
		},
		"the time with its zone":    {&engine{}, []client.Object{owner("")}, []string{`"now": "2026-01-02T03:04:05.000000678+05:30"`}},
		"a refused child":           {failed(refused), []client.Object{owner("")}, []string{`"terminal": [`, "no right"}},
		"a child of somebody else":  {failed(&apply.OwnedByAnotherError{Kind: "ConfigMap", Name: "cart", Controller: controlled}), []client.Object{owner("")}, []string{`"ownedByAnother"`, "OwnedByAnother"}},
		"contested fields":          {failed(&apply.ContestedError{Kind: "ConfigMap", Name: "cart", Fields: []apply.ContestedField{{Path: ".data", Manager: "m"}}}), []client.Object{owner("")}, []string{`"contested"`}},
		"a deadline":                {failed(fmt.Errorf("send: %w", context.DeadlineExceeded)), []client.Object{owner("")}, []string{`"deadline exceeded"`, `"category": "Infrastructure"`}},
		"joined errors":             {&engine{result: apply.Result{OwnerErr: errors.Join(refused, errors.New("and more"))}}, []client.Object{owner("")}, []string{`"joined": [`}},
		"a prune that is held back": {&engine{result: apply.Result{PruneBlocked: &apply.PruneBlockedError{Reason: apply.Reason(apply.ReasonTooMany), Annotation: "a", Token: "b"}}}, []client.Object{owner("")}, []string{`"type": "PruneBlocked"`}},
		"a status that conflicts": {
			&engine{err: apierrors.NewConflict(schema.GroupResource{Resource: "widgets"}, "cart", errors.New("modified"))},
			[]client.Object{owner("")},
			[]string{"write the status"},
		},
		"a secret": {&engine{}, []client.Object{owner("db"), secret()}, []string{`"values": 2`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := recorded(t, config(shop{message: "one"}, c.engine, c.objects...))
			for _, part := range c.want {
				if !strings.Contains(text, part) {
					t.Errorf("want %s in the recording:\n%s", part, text)
				}
			}
			again, err := replayed(t, shop{message: "one"}, text)
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(text, again); diff != "" {
				t.Errorf("the replay is another one (-recorded +replayed):\n%s", diff)
			}
			other, err := replayed(t, shop{message: "two"}, text)
			if err != nil || other == text || !strings.Contains(other, `"message": "two"`) {
				t.Errorf("code that plans something else replays the same (%v):\n%s", err, other)
			}
		})
	}
}

func TestReplayNamesUnrecordedReads(t *testing.T) {
	t.Parallel()
	text := recorded(t, config(shop{}, &engine{}, owner("")))
	again, err := replayed(t, shop{more: true}, text)
	var unrecorded *recording.UnrecordedReadError
	if !errors.As(err, &unrecorded) || err.Error() != "the recorded pass did not get v1/ConfigMap shop/more" {
		t.Errorf("want an error that names the read, got %v", err)
	}
	if !strings.Contains(again, "did not get v1/ConfigMap shop/more") {
		t.Errorf("want the pass to go on with the error, got %s", again)
	}
}

// Nothing of a secret is in a recording: not in what was read, not in the plan, and not what was derived from it.
func TestSecretsAreRedacted(t *testing.T) {
	t.Parallel()
	quoting := &engine{result: apply.Result{Objects: []apply.ObjectResult{{
		Decision: apply.Decision{
			GVK: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Key: types.NamespacedName{Namespace: "shop", Name: "cart"},
			Err: fmt.Errorf("invalid value: %q", password),
		},
		Outcome: apply.OutcomeFailed,
	}}}}
	text := recorded(t, config(shop{}, quoting, owner("db"), secret()))
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(password)))
	for _, leak := range []string{"horse", "Y29ycmVjdCBob3JzZQ", sum, sum[:16]} {
		if strings.Contains(text, leak) {
			t.Errorf("%q is in the recording:\n%s", leak, text)
		}
	}
	r, err := recording.Decode(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"plan.children[0].object.stringData.copy", "plan.children[1].object.data.checksum"}
	if diff := cmp.Diff(want[1:], r.Redacted.Differs); diff != "" {
		t.Errorf("what depends on a secret (-want +got):\n%s", diff)
	}
	for _, part := range []string{
		`"copy": "redacted-1"`,       // a copy is the same value
		`"dsn": "redacted-3"`,        // what contains it is a value of the planned secret
		`"none": ""`,                 // nothing stays nothing
		`"password": "cmVkYWN0ZWQt`,  // in the form of data
		`invalid value: \"redacted-`, // also in the words of the API server
	} {
		if !strings.Contains(text, part) {
			t.Errorf("want %s in the recording:\n%s", part, text)
		}
	}
	var read map[string][]byte
	for _, one := range r.Reads {
		if one.Kind == "v1/Secret" {
			read = dataOf(t, one.Object)
		}
	}
	if string(read["password"]) != string(read["again"]) || len(read["password"]) == 0 {
		t.Errorf("want equal values to stay equal, got %q", read)
	}
	if keys := slices.Sorted(maps.Keys(read)); !slices.Equal(keys, []string{"again", "none", "password"}) {
		t.Errorf("want the keys to stay, got %v", keys)
	}
}

func dataOf(t *testing.T, c recording.Content) map[string][]byte {
	t.Helper()
	s := &corev1.Secret{}
	if err := json.Unmarshal(c, s); err != nil {
		t.Fatal(err)
	}
	return s.Data
}
