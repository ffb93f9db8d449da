package pass

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// Token stands for exactly these objects.
func Token(names ...string) string {
	h := sha256.New()
	for _, name := range names {
		_, _ = fmt.Fprintf(h, "%d:%s", len(name), name)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// RecreateToken stands for the recreation of this object.
func (p *Pass) RecreateToken(id applyset.ObjectID, uid types.UID) string {
	return Token("recreate", id.String(), string(uid))
}
