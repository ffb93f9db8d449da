package lmes

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// TestEnvOfStores checks that certificates of stores are verified by default, and that results without a tag get the
// name of the job.
func TestEnvOfStores(t *testing.T) {
	t.Parallel()
	key := corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}
	for name, c := range map[string]struct {
		verify *bool
		tag    string
		want   map[string]string
	}{
		"nothing set": {want: map[string]string{"S3_VERIFY_SSL": "true", "OCI_VERIFY_SSL": "true", "OCI_TAG": "job"}},
		"everything set": {
			verify: new(false), tag: "v1",
			want: map[string]string{"S3_VERIFY_SSL": "false", "OCI_VERIFY_SSL": "false", "OCI_TAG": "v1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := &v1alpha1.LMEvalJob{ObjectMeta: metav1.ObjectMeta{Name: "job"}, Spec: *valid()}
			job.Spec.Offline = &v1alpha1.Offline{Storage: v1alpha1.OfflineStorage{S3: &v1alpha1.S3{Path: "p", VerifySSL: c.verify}}}
			job.Spec.Outputs = &v1alpha1.Outputs{OCI: &v1alpha1.OCIRegistry{
				Registry: key, Repository: "r", Tag: c.tag, DockerConfigJSON: &key, VerifySSL: c.verify,
			}}
			got := map[string]string{}
			for _, v := range (podOf{job: job}).env(nil) {
				if _, asked := c.want[v.Name]; asked {
					got[v.Name] = v.Value
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestFailedReads checks that a failed read is an error, unlike a missing object.
func TestFailedReads(t *testing.T) {
	t.Parallel()
	failed := errors.New("the API server is unavailable")
	for name, fail := range map[string]func(*Fetched){
		"pod":      func(f *Fetched) { f.pod.Error = failed },
		"config":   func(f *Fetched) { f.config.Error = failed },
		"platform": func(f *Fetched) { f.platform.Error = failed },
		"claim":    func(f *Fetched) { f.claim.Error = failed },
		"authorities": func(f *Fetched) {
			f.authorities = map[string]reconcile.FetchResult[*corev1.ConfigMap]{"ca": {Error: failed}}
		},
	} {
		var f Fetched
		if fail(&f); !errors.Is(f.failure(), failed) {
			t.Errorf("%s: got %v", name, f.failure())
		}
	}
	if err := (Fetched{}).failure(); err != nil {
		t.Error(err)
	}
}

// TestDriverIsNotified checks that a job has a completion time only after its driver was notified.
func TestDriverIsNotified(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "job", UID: "1"}}
	r := Reconciler{drivers: driverKind(&drivers{})}
	for name, c := range map[string]struct {
		err  error
		over bool
	}{"notified": {nil, true}, "unreachable": {errors.New("connection refused"), false}} {
		obs := Observation{job: &v1alpha1.LMEvalJob{ObjectMeta: pod.ObjectMeta}, now: metav1.NewTime(time.Unix(1000, 0))}
		obs.fetched.pod.Value = pod
		obs.act(finish, "")
		answer := apply.ObjectResult{Answer: []byte("{}")}
		answer.GVK, answer.Key, answer.Err = r.drivers.GroupVersionKind(), client.ObjectKey{Name: keyOf(pod)}, c.err
		outcome := reconcile.ApplyOutcome{Result: apply.Result{Objects: []apply.ObjectResult{answer}}}
		if got := r.ObserveApply(t.Context(), rcontext{}, obs, outcome); (got.status.CompleteTime != nil) != c.over || got.status.State != v1alpha1.JobComplete {
			t.Errorf("%s: got %+v", name, got.status)
		}
	}
}
