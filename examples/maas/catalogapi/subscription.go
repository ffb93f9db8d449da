package catalogapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
)

// Phases of a subscription.
const (
	active   = string(v1alpha1.PhaseActive)
	degraded = string(v1alpha1.PhaseDegraded)
	failed   = string(v1alpha1.PhaseFailed)
	pending  = string(v1alpha1.PhasePending)
)

// Annotations with texts for users.
const (
	displayName = "openshift.io/display-name"
	description = "openshift.io/description"
)

func phaseOf(s *v1alpha1.MaaSSubscription) string { return strings.TrimSpace(string(s.Status.Phase)) }

// item is a subscription in the format of the API.
type item struct {
	Name           string            `json:"subscription_id_header"`
	Description    string            `json:"subscription_description"`
	DisplayName    string            `json:"display_name,omitempty"`
	Priority       int32             `json:"priority"`
	Models         []modelItem       `json:"model_refs"`
	OrganizationID string            `json:"organization_id,omitempty"`
	CostCenter     string            `json:"cost_center,omitempty"`
	Labels         map[string]string `json:"labels,omitempty"`
}

type modelItem struct {
	Name      string       `json:"name"`
	Namespace string       `json:"namespace,omitempty"`
	Limits    []limitItem  `json:"token_rate_limits,omitempty"`
	Rate      *billingItem `json:"billing_rate,omitempty"`
}

type limitItem struct {
	Limit  int64  `json:"limit"`
	Window string `json:"window"`
}

type billingItem struct {
	PerToken string `json:"per_token"`
}

func itemOf(s *v1alpha1.MaaSSubscription) item {
	display := s.Annotations[displayName]
	out := item{
		Name: s.Name, Description: cmp.Or(s.Annotations[description], display, s.Name), DisplayName: display, Priority: max(s.Spec.Priority, 0),
		Models: modelItems(s),
	}
	if m := s.Spec.TokenMetadata; m != nil {
		out.OrganizationID, out.CostCenter, out.Labels = m.OrganizationID, m.CostCenter, m.Labels
	}
	return out
}

func modelItems(s *v1alpha1.MaaSSubscription) []modelItem {
	out := []modelItem{}
	for _, ref := range s.Spec.ModelRefs {
		m := modelItem{Name: ref.Name, Namespace: ref.Namespace}
		for _, limit := range ref.TokenRateLimits {
			m.Limits = append(m.Limits, limitItem(limit))
		}
		if ref.BillingRate != nil {
			m.Rate = &billingItem{ref.BillingRate.PerToken}
		}
		out = append(out, m)
	}
	return out
}

// selection is the answer to a selection.
type selection struct {
	Name              string            `json:"name,omitempty"`
	Namespace         string            `json:"namespace,omitempty"`
	DisplayName       string            `json:"displayName,omitempty"`
	Description       string            `json:"description,omitempty"`
	Priority          int32             `json:"priority,omitempty"`
	Models            []modelItem       `json:"modelRefs,omitempty"`
	OrganizationID    string            `json:"organizationId,omitempty"`
	CostCenter        string            `json:"costCenter,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Phase             string            `json:"phase"`
	Ready             bool              `json:"ready"`
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
	Error             string            `json:"error,omitempty"`
	Message           string            `json:"message,omitempty"`
}

func selectionOf(s *v1alpha1.MaaSSubscription) selection {
	i := itemOf(s)
	out := selection{
		Name: s.Name, Namespace: s.Namespace, DisplayName: i.DisplayName, Description: s.Annotations[description], Priority: i.Priority,
		Models: i.Models, OrganizationID: i.OrganizationID, CostCenter: i.CostCenter, Labels: i.Labels, Phase: phaseOf(s),
	}
	for _, c := range s.Status.Conditions {
		out.Ready = out.Ready || c.Type == "Ready" && c.Status == "True"
	}
	if !s.DeletionTimestamp.IsZero() {
		out.DeletionTimestamp = s.DeletionTimestamp.UTC().Format(time.RFC3339)
	}
	return out
}

// refusal is the reason why no subscription was selected.
type refusal struct{ reason, phase, message string }

func (r refusal) Error() string { return r.message }

// request contains the criteria of a selection. Subscription and Model are a name or namespace/name; empty matches any.
type request struct {
	Username     string   `json:"username"`
	Groups       []string `json:"groups"`
	Subscription string   `json:"requestedSubscription"`
	Model        string   `json:"requestedModel"`
}

const largestBody = 1 << 20

// selectOne answers every request with status 200, because the authorization reads the body.
func (s *Server) selectOne(w http.ResponseWriter, r *http.Request) error {
	var asked request
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, largestBody)).Decode(&asked)
	if err == nil && asked.Username == "" {
		err = errors.New("field Username is required")
	}
	if err != nil {
		answer(w, http.StatusOK, selection{Error: "bad_request", Message: "invalid request body: " + err.Error()})
		return nil //nolint:nilerr // the answer contains the error
	}
	all, err := s.list(r.Context())
	if err != nil {
		answer(w, http.StatusOK, selection{Error: "internal_error", Message: "failed to select subscription: " + err.Error()})
		return nil //nolint:nilerr // the answer contains the error
	}
	selected, err := choose(all, asked)
	if err != nil {
		out := selection{Error: "internal_error", Message: err.Error()}
		if refused := (refusal{}); errors.As(err, &refused) {
			out.Error, out.Phase = refused.reason, refused.phase
		}
		answer(w, http.StatusOK, out)
		return nil
	}
	answer(w, http.StatusOK, selectionOf(selected))
	return nil
}

// choose selects one of the subscriptions. Unless the request names one, unusable subscriptions do not make the choice ambiguous.
func choose(all []*v1alpha1.MaaSSubscription, asked request) (*v1alpha1.MaaSSubscription, error) {
	u := user{asked.Username, asked.Groups}
	none := refusal{reason: "not_found", message: "no matching subscription found for user"}
	if len(all) == 0 {
		return nil, none
	}
	if asked.Subscription != "" {
		at := slices.IndexFunc(all, func(s *v1alpha1.MaaSSubscription) bool {
			return s.Namespace+"/"+s.Name == asked.Subscription || s.Name == asked.Subscription
		})
		switch {
		case at < 0:
			return nil, refusal{reason: "not_found", message: "requested subscription not found"}
		case !u.mayUse(all[at]):
			return nil, refusal{reason: "access_denied", message: "access denied to requested subscription"}
		case asked.Model != "" && modelOf(all[at], asked.Model) == nil:
			message := fmt.Sprintf("subscription %s does not include model %s", asked.Subscription, asked.Model)
			return nil, refusal{reason: "model_not_in_subscription", message: message}
		}
		return all[at], healthy(all[at], asked.Model)
	}
	found := slices.DeleteFunc(slices.Clone(all), func(s *v1alpha1.MaaSSubscription) bool {
		return !u.mayUse(s) || asked.Model != "" && modelOf(s, asked.Model) == nil
	})
	if slices.ContainsFunc(found, usable) {
		found = slices.DeleteFunc(found, func(s *v1alpha1.MaaSSubscription) bool { return !usable(s) })
	}
	switch len(found) {
	case 0:
		return nil, none
	case 1:
		return found[0], healthy(found[0], asked.Model)
	}
	return nil, refusal{
		reason:  "multiple_subscriptions",
		message: "user has access to multiple subscriptions, must specify subscription using X-MaaS-Subscription header",
	}
}

// modelOf returns the entry of the model namespace/name, or nil.
func modelOf(s *v1alpha1.MaaSSubscription, model string) *v1alpha1.ModelSubscriptionRef {
	for i := range s.Spec.ModelRefs {
		if ref := &s.Spec.ModelRefs[i]; ref.Namespace+"/"+ref.Name == model {
			return ref
		}
	}
	return nil
}

// healthy returns the reason why a subscription is unusable, for one model if the request names it.
func healthy(s *v1alpha1.MaaSSubscription, model string) error {
	phase := phaseOf(s)
	unhealthy := func(message string) error { return refusal{"model_unhealthy", phase, message} }
	switch {
	case phase == active, phase == degraded, phase == pending && model == "":
	case phase == "" && model == "":
		return unhealthy("subscription is unreconciled (no status.phase set)")
	case phase == failed && model == "":
		return unhealthy("subscription is in Failed phase (cannot create API keys)")
	default:
		return unhealthy(fmt.Sprintf("subscription is in %s phase (allowed: Active, Degraded)", cmp.Or(phase, "unreconciled")))
	}
	ref := modelOf(s, model)
	if phase != degraded || ref == nil || len(ref.TokenRateLimits) == 0 {
		return nil
	}
	for _, limit := range s.Status.TokenRateLimitStatuses {
		if limit.Model == ref.Name && limit.Namespace == ref.Namespace {
			if limit.Ready {
				return nil
			}
			break
		}
	}
	return unhealthy("subscription rate limiting policies are not ready")
}
