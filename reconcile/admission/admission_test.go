package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/reconcilekit/reconcilekit/reconcile/admission"
)

func request(version, object, old string) ctrl.Request {
	operation := admissionv1.Create
	if old != "" {
		operation = admissionv1.Update
	}
	return ctrl.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Kind:      metav1.GroupVersionKind{Group: "example.com", Version: version, Kind: "Cabinet"},
		Operation: operation, Object: runtime.RawExtension{Raw: []byte(object)}, OldObject: runtime.RawExtension{Raw: []byte(old)},
	}}
}

func TestDefaulting(t *testing.T) {
	t.Parallel()
	hook := admission.Defaulting(kinds(), func(c *Cabinet) {
		if c.Spec.Drawers == 0 {
			c.Spec.Drawers = 3
		}
	})
	for name, test := range map[string]struct {
		version, object string
		want            []string
		code            int32
	}{
		"OnlyWhatChanged": {
			version: "v1", object: `{"apiVersion":"example.com/v1","kind":"Cabinet","metadata":{"name":"a"},"spec":{"unknown":1}}`,
			want: []string{`{"op":"add","path":"/spec/drawers","value":3}`},
		},
		"Nothing": {version: "v1", object: `{"apiVersion":"example.com/v1","kind":"Cabinet","metadata":{"name":"a"},"spec":{"drawers":1}}`},
		"OtherVersion": {
			version: "v1beta1", object: `{"apiVersion":"example.com/v1beta1","kind":"Cabinet","metadata":{"name":"a"},"spec":{}}`,
			want: []string{`{"op":"add","path":"/spec/boxes","value":3}`},
		},
		"CannotConvert":  {version: "v1beta1", object: `{"apiVersion":"example.com/v1beta1","kind":"Cabinet","spec":{"boxes":-1}}`, code: 400},
		"UnknownVersion": {version: "v9", object: `{}`, code: 400},
		"NoJSON":         {version: "v1", object: `{`, code: 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := hook.Handler.Handle(t.Context(), request(test.version, test.object, ""))
			if test.code != 0 {
				if response.Allowed || response.Result.Code != test.code {
					t.Errorf("want code %d, got %+v", test.code, response)
				}
				return
			}
			var got []string
			for _, patch := range response.Patches {
				text, err := json.Marshal(patch)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(text))
			}
			if diff := cmp.Diff(test.want, got); diff != "" || !response.Allowed {
				t.Errorf("allowed %t, patches (-want +got):\n%s", response.Allowed, diff)
			}
		})
	}
}

func TestValidating(t *testing.T) {
	t.Parallel()
	wood := func(_ context.Context, c, old *Cabinet) (field.ErrorList, error) {
		switch {
		case c.Spec.Wood == "ask":
			return nil, errors.New("no dependency")
		case old != nil && c.Spec.Wood != old.Spec.Wood:
			return field.ErrorList{field.Forbidden(field.NewPath("spec", "wood"), "it cannot be extended")}, nil
		case c.Spec.Wood == "":
			return field.ErrorList{field.Required(field.NewPath("spec", "wood"), "")}, nil
		}
		return nil, nil
	}
	drawers := func(_ context.Context, c, _ *Cabinet) (field.ErrorList, error) {
		if c.Spec.Drawers < 0 {
			return field.ErrorList{field.Invalid(field.NewPath("spec", "drawers"), c.Spec.Drawers, "must not be negative")}, nil
		}
		return nil, nil
	}
	hook := admission.Validating(kinds(), wood, drawers)
	const oak = `{"metadata":{"name":"a"},"spec":{"wood":"oak"}}`
	for name, test := range map[string]struct {
		object, old string
		code        int32
		want        string
	}{
		"Good":     {object: oak},
		"All":      {object: `{"metadata":{"name":"a"},"spec":{"drawers":-1}}`, code: 422, want: `Cabinet.example.com "a" is invalid: [spec.wood: Required value, spec.drawers: Invalid value: -1: must not be negative]`},
		"Old":      {object: `{"metadata":{"name":"a"},"spec":{"wood":"ash"}}`, old: oak, code: 422, want: "spec.wood: Forbidden: it cannot be extended"},
		"Deleting": {object: `{"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{}}`, old: oak},
		"Unknown":  {object: `{"metadata":{"name":"a"},"spec":{"wood":"ask"}}`, code: 500, want: "no dependency"},
		"NoJSON":   {object: `{`, code: 400},
		"NoOld":    {object: oak, old: `{`, code: 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := hook.Handler.Handle(t.Context(), request("v1", test.object, test.old))
			if test.code == 0 {
				if !response.Allowed {
					t.Errorf("want it allowed, got %+v", response.Result)
				}
				return
			}
			if response.Allowed || response.Result.Code != test.code || !strings.Contains(response.Result.Message, test.want) {
				t.Errorf("want %d %s, got %+v", test.code, test.want, response.Result)
			}
		})
	}
	deletion := request("v1", "", oak)
	deletion.Operation = admissionv1.Delete
	if response := hook.Handler.Handle(t.Context(), deletion); !response.Allowed {
		t.Errorf("a deletion was rejected: %+v", response.Result)
	}
}
