package write

import (
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/decide"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// mark updates the owner reference and the label of a child whose content is left
// alone, in the version that was looked at.
func mark(p *pass.Pass, c *pass.Child) error {
	for range MaxTries {
		answer, err := sendMark(p, c)
		if err == nil {
			c.Result.Outcome = apply.OutcomeUpdated
			c.Memory.Wrote(answer, p.Now)
			c.Memory.Accept(c.Hash, answer.GetResourceVersion())
			c.Memory.Succeeded(p.Now)
			return nil
		}
		if !apierrors.IsConflict(err) {
			return fmt.Errorf("update the owner reference: %w", err)
		}
		c.Result.Fields = nil
		if decideAgain(p, c); c.Action != pass.ActionMark {
			return nil // the next pass looks at it again
		}
	}
	return errUnsettled
}

func sendMark(p *pass.Pass, c *pass.Child) (client.Object, error) {
	references := c.Live.GetOwnerReferences()
	metadata := map[string]any{"uid": c.Live.GetUID(), "resourceVersion": c.Live.GetResourceVersion()}
	if at := decide.OutdatedReference(p, c.Live); at >= 0 {
		updated := append([]metav1.OwnerReference(nil), references...)
		updated[at].APIVersion = p.OwnerKind.GVK.GroupVersion().String()
		metadata["ownerReferences"] = updated
	}
	if c.Live.GetLabels()[applyset.PartOfLabel] == "" && c.Member && !c.Planned.Existing {
		metadata["labels"] = map[string]string{applyset.PartOfLabel: p.SetID}
	}
	data, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(c.Kind.GVK)
	o.Name, o.Namespace = c.ID.Key.Name, c.ID.Key.Namespace
	if err := p.Env.Client.Patch(p.Ctx, o, client.RawPatch(types.MergePatchType, data), client.FieldOwner(c.Manager)); err != nil {
		return nil, err
	}
	return o, nil
}
