package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

// intent is the body of an apply and its field manager.
type intent struct {
	body    []byte
	manager string
}

// captureClient serves one object, or none, and records the first apply of it. It sends nothing to the API server.
type captureClient struct {
	client.Client
	owner client.Object  // of the sequence
	shown map[string]any // nil: the object does not exist
	child client.ObjectKey
	gk    schema.GroupKind

	mu       sync.Mutex
	captured *intent
}

var errCaptured = errors.New("captured")

// foreignAnnotation is an annotation in the engine's view, as if it had applied it: no plan contains it, so the object cannot be up to
// date.
const foreignAnnotation = "oracle.reconcilekit.dev/strange"

// capture returns the body that an engine without memory would apply to the live object, or to create it if live is nil. It returns nil
// if the engine would not apply.
func (s *sequence) capture(c *child, live map[string]any) *intent {
	planned, err := c.planned()
	if err != nil {
		return nil
	}
	if live != nil {
		live = addForeignField(live, s.managerOf(c))
	}
	capturing := &captureClient{Client: s.oracle.client, owner: s.owner, shown: live, child: c.key, gk: c.kind.gvk.GroupKind()}
	engine, err := engine.New(capturing, capturing, s.options())
	if err != nil {
		return nil
	}
	owner, _ := s.owner.DeepCopyObject().(client.Object)
	engine.Apply(s.ctx, owner, setOf(planned))
	return capturing.captured
}

// managerOf returns the field manager with which the engine applies the child: for a contribution or a shared object there is one for
// each owner.
func (s *sequence) managerOf(c *child) string {
	if c.mode == apply.Contribute || c.mode == apply.Shared {
		return fieldManager + ":" + string(s.owner.GetUID())
	}
	return fieldManager
}

// addForeignField makes the manager own one more field.
func addForeignField(live map[string]any, manager string) map[string]any {
	live = runtime.DeepCopyJSON(live)
	metadata, _ := live["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	annotations[foreignAnnotation] = "x"
	entries, _ := metadata["managedFields"].([]any)
	found := false
	for _, entry := range entries {
		e, _ := entry.(map[string]any)
		name, _ := e["manager"].(string)
		if e["operation"] != "Apply" || name != manager {
			continue
		}
		found = true
		fields, _ := e["fieldsV1"].(map[string]any)
		ownForeignField(fields)
	}
	if !found {
		fields := map[string]any{}
		ownForeignField(fields)
		metadata["managedFields"] = append(entries, map[string]any{
			"manager": manager, "operation": "Apply", "apiVersion": live["apiVersion"], "fieldsType": "FieldsV1", "fieldsV1": fields,
		})
	}
	return live
}

func ownForeignField(fields map[string]any) {
	for _, field := range []string{"f:metadata", "f:annotations", "f:" + foreignAnnotation} {
		below, ok := fields[field].(map[string]any)
		if !ok {
			below = map[string]any{}
			fields[field] = below
		}
		fields = below
	}
}

func (c *captureClient) isChild(o client.Object, key client.ObjectKey) bool {
	gvk, err := c.GroupVersionKindFor(o)
	return err == nil && gvk.GroupKind() == c.gk && key == c.child
}

func (c *captureClient) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if m, metadata := o.(*metav1.PartialObjectMetadata); metadata && key == client.ObjectKeyFromObject(c.owner) && m.Kind == "Widget" {
		m.UID = c.owner.GetUID()
		return nil
	}
	if c.shown == nil || !c.isChild(o, key) {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	return convert(c.shown, o)
}

func (c *captureClient) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return nil
}

func (c *captureClient) Patch(_ context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if !c.isChild(o, client.ObjectKeyFromObject(o)) {
		return nil
	}
	if patch.Type() != types.ApplyPatchType {
		return nil
	}
	data, err := patch.Data(o)
	if err != nil {
		return err
	}
	options := &client.PatchOptions{}
	options.ApplyOptions(opts)
	return c.keep(data, options.FieldManager)
}

func (c *captureClient) Create(_ context.Context, o client.Object, opts ...client.CreateOption) error {
	options := &client.CreateOptions{}
	options.ApplyOptions(opts)
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return c.keep(data, options.FieldManager)
}

// keep records the body without its UID and resourceVersion.
func (c *captureClient) keep(data []byte, manager string) error {
	body := parse(data)
	if metadata, ok := body["metadata"].(map[string]any); ok {
		delete(metadata, "resourceVersion")
		delete(metadata, "uid")
	}
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.captured == nil {
		c.captured = &intent{body: data, manager: manager}
	}
	return errCaptured
}

func (c *captureClient) Delete(context.Context, client.Object, ...client.DeleteOption) error {
	return errCaptured
}

func (c *captureClient) Update(context.Context, client.Object, ...client.UpdateOption) error {
	return errCaptured
}
