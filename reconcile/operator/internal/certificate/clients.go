package certificate

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ClientKind is a kind of objects that configure calls of a webhook server and the certificates to trust.
type ClientKind string

// The kinds of clients.
const (
	Mutating   ClientKind = "MutatingWebhookConfiguration"
	Validating ClientKind = "ValidatingWebhookConfiguration"
	CRD        ClientKind = "CustomResourceDefinition"
)

// Client is an object with which the API server is configured to call the webhook server: all webhooks of a configuration,
// or the conversion of a CRD.
type Client struct {
	Kind ClientKind
	Name string
}

// String returns the kind and the name.
func (c Client) String() string { return string(c.Kind) + " " + c.Name }

func (c Client) gvk() schema.GroupVersionKind {
	group := "admissionregistration.k8s.io"
	if c.Kind == CRD {
		group = "apiextensions.k8s.io"
	}
	return schema.GroupVersionKind{Group: group, Version: "v1", Kind: string(c.Kind)}
}

// trust sets the trusted certificates of the object. The patch requires the resourceVersion that was read, so that it
// overwrites no concurrent change.
func (c Client) trust(ctx context.Context, cl client.Client, bundle []byte) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(c.gvk())
	if err := cl.Get(ctx, client.ObjectKey{Name: c.Name}, object); err != nil {
		return fmt.Errorf("read %s: %w", c, err)
	}
	changed, err := c.change(object, bundle)
	if err != nil || changed == nil {
		return err
	}
	if err := cl.Patch(ctx, object, client.RawPatch(types.JSONPatchType, changed)); err != nil {
		return fmt.Errorf("write the certificates that %s trusts: %w", c, err)
	}
	return nil
}

// configs returns the client configurations of the object by JSON pointer.
func (c Client) configs(object *unstructured.Unstructured) (map[string]map[string]any, error) {
	found := map[string]map[string]any{}
	if c.Kind == CRD {
		config, there, err := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook", "clientConfig")
		if err != nil || !there {
			return nil, fmt.Errorf("%s has no conversion by webhook: install the CRD with spec.conversion.webhook.clientConfig", c)
		}
		found["/spec/conversion/webhook/clientConfig"] = config
		return found, nil
	}
	webhooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c, err)
	}
	for i, item := range webhooks {
		webhook, _ := item.(map[string]any)
		if config, ok := webhook["clientConfig"].(map[string]any); ok {
			found[fmt.Sprintf("/webhooks/%d/clientConfig", i)] = config
		}
	}
	return found, nil
}

// change returns a JSON patch, nil if the object already has the bundle.
func (c Client) change(object *unstructured.Unstructured, bundle []byte) ([]byte, error) {
	configs, err := c.configs(object)
	if err != nil {
		return nil, err
	}
	operations := []map[string]any{{"op": "replace", "path": "/metadata/resourceVersion", "value": object.GetResourceVersion()}}
	for _, pointer := range slices.Sorted(maps.Keys(configs)) {
		present, _ := configs[pointer]["caBundle"].(string)
		if decoded, err := base64.StdEncoding.DecodeString(present); err == nil && bytes.Equal(decoded, bundle) {
			continue
		}
		operations = append(operations, map[string]any{"op": "add", "path": pointer + "/caBundle", "value": bundle})
	}
	if len(operations) == 1 {
		return nil, nil
	}
	return json.Marshal(operations)
}
