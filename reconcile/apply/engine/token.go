package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// token returns a token for exactly these objects.
func token(names ...string) string {
	h := sha256.New()
	for _, name := range names {
		_, _ = fmt.Fprintf(h, "%d:%s", len(name), name)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// recreateToken returns the token that allows the recreation of this object.
func (p *pass) recreateToken(id applyset.ObjectID, uid types.UID) string {
	return token("recreate", id.String(), string(uid))
}
