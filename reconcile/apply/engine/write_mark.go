package engine

import (
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// markChild updates the owner reference and the label of a child, or removes the label, without changing its content, pinned to the version
// that was read.
func markChild(p *pass, c *child) error {
	for range maxTries {
		answer, err := sendMarks(p, c)
		if err == nil {
			c.result.Outcome = apply.OutcomeUpdated
			c.memory.Wrote(answer, p.now)
			c.memory.Accept(c.hash, answer.GetResourceVersion())
			c.memory.Succeeded(p.now)
			return nil
		}
		if !apierrors.IsConflict(err) {
			return fmt.Errorf("update the owner reference: %w", err)
		}
		c.result.Fields = nil
		if decideChildAgain(p, c); c.action != actionMark {
			return nil // the next pass reads it again
		}
	}
	return errUnsettled
}

// sendMarks updates the marks of a child, or sets them on an adopted one.
func sendMarks(p *pass, c *child) (client.Object, error) {
	if p.adopts(c.live) {
		return sendAdoption(p, c)
	}
	return sendMark(p, c)
}

func sendMark(p *pass, c *child) (client.Object, error) {
	references := c.live.GetOwnerReferences()
	metadata := map[string]any{"uid": c.live.GetUID(), "resourceVersion": c.live.GetResourceVersion()}
	if at := p.outdatedReference(c.live); at >= 0 {
		updated := append([]metav1.OwnerReference(nil), references...)
		updated[at].APIVersion = p.ownerKind.GVK.GroupVersion().String()
		metadata["ownerReferences"] = updated
	}
	if c.live.GetLabels()[applyset.PartOfLabel] == "" && c.member && !c.planned.Existing {
		metadata["labels"] = map[string]string{applyset.PartOfLabel: p.setID}
	}
	if c.planned.History && p.inSet(c.live) {
		metadata["labels"] = map[string]any{applyset.PartOfLabel: nil}
	}
	data, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(c.kind.GVK)
	o.Name, o.Namespace = c.id.Key.Name, c.id.Key.Namespace
	if err := p.env.client.Patch(p.ctx, o, client.RawPatch(types.MergePatchType, data), client.FieldOwner(c.manager)); err != nil {
		return nil, err
	}
	return o, nil
}
