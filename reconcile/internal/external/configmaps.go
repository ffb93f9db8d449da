package external

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ConfigMapClaims are [Claims] in ConfigMaps of one namespace, one for each external resource. The name of a ConfigMap is derived from
// the kind and the key, so that the API server rejects a second claim, also from another process.
type ConfigMapClaims struct {
	// Writer and Reader access the API server. Reader must not use a cache. Required.
	Writer client.Writer
	Reader client.Reader
	// Namespace is the namespace of the ConfigMaps. Required.
	Namespace string
}

var _ Claims = (*ConfigMapClaims)(nil)

// Labels and fields of the ConfigMap of a claim.
const (
	claimLabel      = "reconcilekit.dev/external-claim"
	claimLabelValue = "true"
	claimPage       = 500

	claimKind       = "kind"
	claimKey        = "key"
	claimController = "controller"
	claimNamespace  = "ownerNamespace"
	claimName       = "ownerName"
	claimUID        = "ownerUID"
	claimRemoved    = "removed"
)

// ClaimName returns the name of the ConfigMap with the claim of an external resource.
func ClaimName(kind, key string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + key))
	return "external-" + lower(kind) + "-" + hex.EncodeToString(sum[:16])
}

func (c *ConfigMapClaims) object(claim Claim) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: ClaimName(claim.Kind, claim.Key), Labels: map[string]string{claimLabel: claimLabelValue},
		},
		Data: map[string]string{
			claimKind: claim.Kind, claimKey: claim.Key, claimController: claim.Controller, claimNamespace: claim.Owner.Namespace,
			claimName: claim.Owner.Name, claimUID: string(claim.UID), claimRemoved: strconv.FormatBool(claim.Removed),
		},
	}
}

func claimOf(o *corev1.ConfigMap) (*Claim, error) {
	out := &Claim{
		Kind: o.Data[claimKind], Key: o.Data[claimKey], Controller: o.Data[claimController], UID: types.UID(o.Data[claimUID]),
		Owner:   types.NamespacedName{Namespace: o.Data[claimNamespace], Name: o.Data[claimName]},
		Removed: o.Data[claimRemoved] == "true",
	}
	if o.Name != ClaimName(out.Kind, out.Key) || out.UID == "" {
		return nil, fmt.Errorf("ConfigMap %s/%s is not a valid claim of an external resource: restore it, or delete it when its resource no longer exists",
			o.Namespace, o.Name)
	}
	return out, nil
}

// List implements [Claims].
func (c *ConfigMapClaims) List(ctx context.Context) ([]Claim, error) {
	var out []Claim
	page := &corev1.ConfigMapList{}
	for {
		if err := c.Reader.List(ctx, page, client.InNamespace(c.Namespace), client.MatchingLabels{claimLabel: claimLabelValue},
			client.Limit(claimPage), client.Continue(page.Continue)); err != nil {
			return nil, fmt.Errorf("list claims of external resources in namespace %q: %w", c.Namespace, err)
		}
		for i := range page.Items {
			if claim, err := claimOf(&page.Items[i]); err == nil { // Get reports an invalid claim for its own resource
				out = append(out, *claim)
			}
		}
		if page.Continue == "" {
			return out, nil
		}
	}
}

func (c *ConfigMapClaims) get(ctx context.Context, kind, key string) (*corev1.ConfigMap, *Claim, error) {
	o := &corev1.ConfigMap{}
	err := c.Reader.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: ClaimName(kind, key)}, o)
	if apierrors.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the claim of %s %q: %w", kind, key, err)
	}
	claim, err := claimOf(o)
	return o, claim, err
}

// Get implements [Claims].
func (c *ConfigMapClaims) Get(ctx context.Context, kind, key string) (*Claim, error) {
	_, claim, err := c.get(ctx, kind, key)
	return claim, err
}

// Create implements [Claims].
func (c *ConfigMapClaims) Create(ctx context.Context, claim Claim) (*Claim, error) {
	err := c.Writer.Create(ctx, c.object(claim))
	switch {
	case err == nil:
		return nil, nil
	case !apierrors.IsAlreadyExists(err):
		return nil, fmt.Errorf("claim %s %q: %w", claim.Kind, claim.Key, err)
	}
	found, err := c.Get(ctx, claim.Kind, claim.Key)
	if err == nil && found == nil {
		err = fmt.Errorf("claim %s %q: the claim of another owner was deleted meanwhile", claim.Kind, claim.Key)
	}
	return found, err
}

// MarkRemoved implements [Claims].
func (c *ConfigMapClaims) MarkRemoved(ctx context.Context, claim Claim) error {
	o, found, err := c.get(ctx, claim.Kind, claim.Key)
	if err != nil || found == nil || found.UID != claim.UID || found.Removed {
		return err
	}
	patch := client.MergeFromWithOptions(o.DeepCopy(), client.MergeFromWithOptimisticLock{})
	o.Data[claimRemoved] = "true"
	if err := c.Writer.Patch(ctx, o, patch); err != nil {
		return fmt.Errorf("mark the claim of %s %q as removed: %w", claim.Kind, claim.Key, err)
	}
	return nil
}

// Delete implements [Claims].
func (c *ConfigMapClaims) Delete(ctx context.Context, claim Claim) error {
	o, found, err := c.get(ctx, claim.Kind, claim.Key)
	if err != nil || found == nil || found.UID != claim.UID {
		return err
	}
	uid, version := o.GetUID(), o.GetResourceVersion()
	err = c.Writer.Delete(ctx, o, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete the claim of %s %q: %w", claim.Kind, claim.Key, err)
	}
	return nil
}
