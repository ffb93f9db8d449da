package engine

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// conflict is one field of a 409 to an apply.
type conflict struct {
	apply.ContestedField
	// update reports that the other manager wrote by update, not by apply.
	update bool
}

// conflictsOf returns the conflicting fields of a 409. The API server reports them as causes with a message such as: conflict with
// "kubectl-edit" using apps/v1.
func conflictsOf(err error) []conflict {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var out []conflict
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		_, rest, _ := strings.Cut(cause.Message, `"`)
		manager, rest, _ := strings.Cut(rest, `"`)
		out = append(out, conflict{
			ContestedField: apply.ContestedField{Path: cause.Field, Manager: manager},
			update:         strings.Contains(rest, " using "),
		})
	}
	slices.SortFunc(out, func(a, b conflict) int {
		return strings.Compare(a.Path+"\x00"+a.Manager, b.Path+"\x00"+b.Manager)
	})
	return out
}

// handleRefusal sets the outcome of the child from the error of a request. It remembers errors that would recur for the same request.
func handleRefusal(p *pass, c *child, err error) {
	c.memory.ForgetProof()
	switch {
	case refusedByNamespace(p, c, err):
	case isSecondController(err):
		ownedByAnother(p, c, err)
	case apierrors.IsInvalid(err) && c.planned.Recreate && c.uid != "":
		recreateChild(p, c, err)
	case apierrors.IsInvalid(err):
		failWithBackoff(p, c, apply.OutcomeFailed, err)
	case isUnfit(err) && hasOnlyDuplicates(err):
		failWithBackoff(p, c, apply.OutcomeFailed, &intent.DuplicateError{Cause: err})
	case isUnfit(err):
		failWithBackoff(p, c, apply.OutcomeFailed, &intent.UnfitError{Cause: err})
	default:
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			c.memory.Replaced() // or gone: read it again
		}
		c.failed(apply.OutcomeFailed, err)
	}
}

// isUnfit reports whether the error says that an intent does not match the schema of its kind. The API server returns a 500 in this case.
func isUnfit(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusInternalServerError {
		return false
	}
	message := status.Status().Message
	return strings.HasPrefix(message, "failed to create typed patch object (") || strings.HasPrefix(message, "failed to convert new object (")
}

// hasOnlyDuplicates reports whether lists with two items of one key are all that is wrong with an intent. The API server joins several errors
// in lines below "errors:".
func hasOnlyDuplicates(err error) bool {
	const duplicate = "duplicate entries for key"
	text := err.Error()
	if _, lines, several := strings.Cut(text, "errors:\n"); several {
		text = strings.TrimSpace(lines)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.Contains(line, duplicate) {
			return false
		}
	}
	return true
}

// isSecondController reports whether the error refuses a second controller reference. That is a conflict about the object, not an invalid
// intent.
func isSecondController(err error) bool {
	return apierrors.IsInvalid(err) && hasCause(err, func(c metav1.StatusCause) bool {
		return c.Field == "metadata.ownerReferences" && strings.Contains(c.Message, "Only one reference can have Controller set to true")
	})
}

// collidesOnlyWithExisting reports whether a new object is refused only because of values that the existing object holds and its deletion
// releases, such as a node port.
func collidesOnlyWithExisting(p *pass, c *child, err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || c.live == nil || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	live, encodeErr := p.env.encoder.Live(c.live)
	if encodeErr != nil {
		return false
	}
	causes := status.Status().Details.Causes
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(cause metav1.StatusCause) bool {
		want, planned := valueAt(c.content, cause.Field)
		have, exists := valueAt(live, cause.Field)
		return !planned || !exists || !equality.Semantic.DeepEqual(want, have)
	})
}

// valueAt returns the value of a field in the notation of a refusal, "spec.ports[0].nodePort".
func valueAt(content any, field string) (any, bool) {
	for part := range strings.SplitSeq(field, ".") {
		name, rest, _ := strings.Cut(part, "[")
		m, ok := content.(map[string]any)
		if !ok {
			return nil, false
		}
		if content, ok = m[name]; !ok {
			return nil, false
		}
		for rest != "" {
			var index string
			index, rest, _ = strings.Cut(rest, "]")
			rest = strings.TrimPrefix(rest, "[")
			list, ok := content.([]any)
			i, err := strconv.Atoi(index)
			if !ok || err != nil || i < 0 || i >= len(list) {
				return nil, false
			}
			content = list[i]
		}
	}
	return content, true
}

func hasCause(err error, is func(metav1.StatusCause) bool) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	s := status.Status()
	if s.Details == nil {
		return false
	}
	return slices.ContainsFunc(s.Details.Causes, is)
}

// ownedByAnother reads the object for its controller, which the refusal does not name.
func ownedByAnother(p *pass, c *child, cause error) {
	found, err := p.liveMetadata(c.kind.GVK, c.id.Key)
	if err != nil || found == nil {
		c.failed(apply.OutcomeFailed, cause)
		return
	}
	if stillOwned(p, c, found) {
		c.failed(apply.OutcomeFailed, fmt.Errorf("look again: %w", cause)) // the owner has changed meanwhile
		return
	}
	failWithBackoff(p, c, apply.OutcomeFailed, c.result.Err)
}

// failWithBackoff fails the child and remembers the error.
func failWithBackoff(p *pass, c *child, outcome apply.Outcome, err error) {
	c.failed(outcome, err)
	f := memory.Failure{Situation: memory.Situation{Intent: c.hash}, Outcome: outcome, Err: err}
	if c.live != nil {
		f.Version = c.live.GetResourceVersion()
		f.UID, f.Others = c.live.GetUID(), c.otherManagers()
	}
	c.requeue = c.memory.Refused(f, p.now, p.env.options.ContestInterval)
}
