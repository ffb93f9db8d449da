package catalogapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
)

// entry is a model in the format of OpenAI's list, with more fields.
type entry struct {
	ID            string             `json:"id"`
	Created       int64              `json:"created"`
	Object        string             `json:"object"`
	OwnedBy       string             `json:"owned_by"`
	Kind          string             `json:"kind"`
	URL           string             `json:"url,omitempty"`
	Ready         bool               `json:"ready"`
	Details       *details           `json:"modelDetails,omitempty"`
	Subscriptions []subscriptionName `json:"subscriptions,omitempty"`
}

type details struct {
	UseCase       string `json:"genaiUseCase,omitempty"`
	Description   string `json:"description,omitempty"`
	DisplayName   string `json:"displayName,omitempty"`
	ContextWindow string `json:"contextWindow,omitempty"`
}

type subscriptionName struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName,omitempty"`
	Description string `json:"description,omitempty"`
}

// most is the maximum number of concurrent probes.
const most = 10

// models lists the models that the subscriptions of the caller give access to.
func (s *Server) models(w http.ResponseWriter, r *http.Request, u user) error {
	authorization := strings.TrimSpace(r.Header.Get("Authorization"))
	if authorization == "" {
		return failure{http.StatusUnauthorized, authenticationError, "Authorization required"}
	}
	chosen, err := s.chosen(r, u, authorization)
	if err != nil {
		return err
	}
	var refs v1alpha1.MaaSModelRefList
	if err := s.Reader.List(r.Context(), &refs); err != nil {
		return failure{http.StatusInternalServerError, serverError, "Failed to list models"}
	}
	data := s.granted(r.Context(), chosen, refs.Items, authorization)
	w.Header().Set("Cache-Control", "no-store")
	now := time.Now().UTC() //nolint:forbidigo // the header contains the time of the probes
	w.Header().Set("X-Access-Checked-At", now.Format(time.RFC3339))
	answer(w, http.StatusOK, struct {
		Data   []entry `json:"data"`
		Object string  `json:"object"`
	}{data, "list"})
	return nil
}

// chosen returns the subscriptions whose models are listed: the one that the request names, or all usable ones of the user.
func (s *Server) chosen(r *http.Request, u user, authorization string) ([]*v1alpha1.MaaSSubscription, error) {
	named := ""
	for _, line := range r.Header.Values("X-Maas-Subscription") {
		named = cmp.Or(strings.TrimSpace(line), named)
	}
	if named == "" && strings.HasPrefix(authorization, "Bearer sk-oai-") {
		return nil, failure{http.StatusForbidden, permissionError, "API key has no subscription bound"}
	}
	all, err := s.list(r.Context())
	if err != nil {
		return nil, failure{http.StatusInternalServerError, serverError, "Failed to get subscriptions"}
	}
	if named == "" {
		return slices.DeleteFunc(all, func(one *v1alpha1.MaaSSubscription) bool { return !usable(one) || !u.mayUse(one) }), nil
	}
	one, err := choose(all, request{Username: u.name, Groups: u.groups, Subscription: named})
	if err == nil && !usable(one) {
		err = errors.New("requested subscription cannot be used: it is not active, or is being deleted")
	}
	if err != nil {
		return nil, failure{http.StatusForbidden, permissionError, err.Error()}
	}
	return []*v1alpha1.MaaSSubscription{one}, nil
}

// granted probes all models of all subscriptions, within one deadline, and returns those that the caller may use.
func (s *Server) granted(
	ctx context.Context, chosen []*v1alpha1.MaaSSubscription, refs []v1alpha1.MaaSModelRef, authorization string,
) []entry {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	type found struct {
		ref    *v1alpha1.MaaSModelRef
		of     *v1alpha1.MaaSSubscription
		models []model
	}
	var all []*found
	var group sync.WaitGroup
	slots := make(chan struct{}, most)
	for _, of := range chosen {
		for i := range refs {
			ref := &refs[i]
			if ref.Spec == nil || !ref.DeletionTimestamp.IsZero() || modelOf(of, ref.Namespace+"/"+ref.Name) == nil {
				continue
			}
			one := &found{ref: ref, of: of}
			all = append(all, one)
			if ref.Spec.ModelRef.Kind == v1alpha1.BackendExternalModel {
				if ref.Status.Phase == v1alpha1.ModelReady {
					one.models = []model{{}}
				}
				continue
			}
			group.Go(func() {
				select {
				case slots <- struct{}{}:
					defer func() { <-slots }()
					one.models = s.Prober.Probe(ctx, ref.Status.Endpoint, authorization, of.Name)
				case <-ctx.Done():
				}
			})
		}
	}
	group.Wait()
	merged := map[[3]string]*entry{}
	for _, one := range all {
		for _, m := range one.models {
			e := entryOf(one.ref, m)
			key := [3]string{e.ID, e.URL, e.OwnedBy}
			if merged[key] == nil {
				merged[key] = &e
			}
			at := merged[key]
			if last := len(at.Subscriptions) - 1; last < 0 || at.Subscriptions[last].Name != one.of.Name {
				name := subscriptionName{one.of.Name, one.of.Annotations[displayName], one.of.Annotations[description]}
				at.Subscriptions = append(at.Subscriptions, name)
			}
		}
	}
	data := []entry{}
	for _, e := range merged {
		data = append(data, *e)
	}
	slices.SortFunc(data, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.URL, b.URL), cmp.Compare(a.OwnedBy, b.OwnedBy))
	})
	return data
}

// entryOf returns the entry of a reference. It uses the reference for fields that the backend does not return.
func entryOf(ref *v1alpha1.MaaSModelRef, m model) entry {
	out := entry{
		ID: cmp.Or(m.ID, ref.Name), Created: cmp.Or(m.Created, ref.CreationTimestamp.Unix()), Object: "model",
		OwnedBy: ref.Namespace + "/" + ref.Name, Kind: cmp.Or(ref.Spec.ModelRef.Kind, "llmisvc"), URL: ref.Status.Endpoint,
		Ready: ref.Status.Phase == v1alpha1.ModelReady,
	}
	if d := (details{
		ref.Annotations["opendatahub.io/genai-use-case"], ref.Annotations[description], ref.Annotations[displayName],
		ref.Annotations["opendatahub.io/context-window"],
	}); d != (details{}) {
		out.Details = &d
	}
	return out
}
