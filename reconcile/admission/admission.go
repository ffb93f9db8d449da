package admission

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/reconcilekit/reconcilekit/defaulting"
)

// Kinds describes the versions of a kind. T is the type that the functions receive: the only version, or the hub version.
type Kinds[T client.Object] struct {
	// Hub returns an empty object of the hub version. Required. With Spokes it must implement conversion.Hub.
	Hub func() T
	// Scheme contains all versions. Required.
	Scheme *runtime.Scheme
	// Spokes maps each other version to a function that returns an empty object. A request in an unknown version, kind or group is answered with 400.
	Spokes map[schema.GroupVersionKind]func() conversion.Convertible
}

// Validator returns the problems of an object. old is the stored object, the zero value on creation. Each problem names its field. An
// error reports that the validation itself failed.
type Validator[T client.Object] func(ctx context.Context, object, old T) (field.ErrorList, error)

// Defaulting returns a webhook that answers with a patch of the changes that setDefaults makes to the object.
func Defaulting[T client.Object](kinds Kinds[T], setDefaults func(object T)) *admission.Webhook {
	return &admission.Webhook{Handler: admission.HandlerFunc(func(_ context.Context, request admission.Request) admission.Response {
		given, hub, err := kinds.decode(request, request.Object)
		if err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		setDefaults(hub)
		filled, err := kinds.encode(request, hub)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		change, err := defaulting.Difference(given, filled)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		if change == "{}" {
			return admission.Allowed("")
		}
		patched, err := defaulting.Merge(request.Object.Raw, []byte(change))
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		return admission.PatchResponseFromRaw(request.Object.Raw, patched)
	})}
}

// Validating returns a webhook that rejects objects with problems in the format of the API server's schema validation: code 422, with all
// problems, or the first 100 and the number of the others. It truncates invalid values to 1 KiB. It allows deletions.
func Validating[T client.Object](kinds Kinds[T], validators ...Validator[T]) *admission.Webhook {
	return &admission.Webhook{Handler: admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
		object, old, reviewed, err := kinds.objects(request)
		if err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if !reviewed {
			return admission.Allowed("")
		}
		problems, err := validate(ctx, object, old, validators)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		if len(problems) == 0 {
			return admission.Allowed("")
		}
		gk := schema.GroupKind{Group: request.Kind.Group, Kind: request.Kind.Kind}
		status := apierrors.NewInvalid(gk, object.GetName(), bounded(problems)).Status()
		return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &status}}
	})}
}

func validate[T client.Object](ctx context.Context, object, old T, validators []Validator[T]) (field.ErrorList, error) {
	var problems field.ErrorList
	var errs []error
	for _, validator := range validators {
		found, err := validator(ctx, object, old)
		problems, errs = append(problems, found...), append(errs, err)
	}
	return problems, errors.Join(errs...)
}

// objects returns the object of the request and the stored one, and reports whether to validate them. An object that is being deleted is
// not validated.
func (k Kinds[T]) objects(request admission.Request) (object, old T, reviewed bool, err error) {
	if request.Operation == admissionv1.Delete {
		return object, old, false, nil
	}
	if _, object, err = k.decode(request, request.Object); err != nil || !object.GetDeletionTimestamp().IsZero() {
		return object, old, false, err
	}
	if request.Operation == admissionv1.Update {
		_, old, err = k.decode(request, request.OldObject)
	}
	return object, old, err == nil, err
}

// hubOf returns the object as a conversion hub.
func hubOf(object client.Object) (conversion.Hub, error) {
	hub, ok := object.(conversion.Hub)
	if !ok {
		return nil, fmt.Errorf("%T is not a conversion.Hub: add a method Hub, or remove Spokes", object)
	}
	return hub, nil
}

// decode returns the object in the version of the request and in the hub version. The caller may modify both.
func (k Kinds[T]) decode(request admission.Request, raw runtime.RawExtension) (given runtime.Object, hub T, err error) {
	decoder := admission.NewDecoder(k.Scheme)
	hub = k.Hub()
	spoke, err := k.spoke(request)
	if err != nil {
		return nil, hub, err
	}
	if spoke == nil {
		if err := decoder.DecodeRaw(raw, hub); err != nil {
			return nil, hub, err
		}
		return hub.DeepCopyObject(), hub, nil
	}
	if err := decoder.DecodeRaw(raw, spoke); err != nil {
		return nil, hub, err
	}
	given = spoke.DeepCopyObject()
	target, err := hubOf(hub)
	if err != nil {
		return nil, hub, err
	}
	if err := spoke.ConvertTo(target); err != nil {
		return nil, hub, fmt.Errorf("convert %s to the hub version: %w", request.Kind.Version, err)
	}
	return given, hub, nil
}

// encode returns the hub object in the version of the request.
func (k Kinds[T]) encode(request admission.Request, hub T) (runtime.Object, error) {
	spoke, err := k.spoke(request)
	if err != nil || spoke == nil {
		return hub, err
	}
	source, err := hubOf(hub)
	if err != nil {
		return nil, err
	}
	if err := spoke.ConvertFrom(source); err != nil {
		return nil, fmt.Errorf("convert the hub version to %s: %w", request.Kind.Version, err)
	}
	gvk := schema.GroupVersionKind{Group: request.Kind.Group, Version: request.Kind.Version, Kind: request.Kind.Kind}
	spoke.GetObjectKind().SetGroupVersionKind(gvk)
	return spoke, nil
}

// spoke returns an empty object of the version of the request; nil for the hub version.
func (k Kinds[T]) spoke(request admission.Request) (conversion.Convertible, error) {
	gvk := schema.GroupVersionKind{Group: request.Kind.Group, Version: request.Kind.Version, Kind: request.Kind.Kind}
	if made := k.Spokes[gvk]; made != nil {
		return made(), nil
	}
	hub, err := apiutil.GVKForObject(k.Hub(), k.Scheme)
	if err != nil {
		return nil, err
	}
	if gvk != hub {
		return nil, fmt.Errorf("kind %s: want %s in a served version", gvk, hub.GroupKind())
	}
	return nil, nil //nolint:nilnil // the hub is no spoke
}
