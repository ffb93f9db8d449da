package predictor

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
)

// Messages of ModelMesh and of the product.
const (
	noPodsPrefix     = "There are no running instances that meet the label requirements of type "
	noRuntimeSuffix  = "[_no_runtime]"
	waitingForPod    = "Waiting for runtime Pod to become available"
	waitingForRights = "Waiting for supporting runtime Pod to become available"
	unknownRuntime   = "Specified runtime name not recognized"
	unsupported      = "No ServingRuntime supports specified model type and/or protocol"
	otherSource      = "Predictor already exists with the same name from a different source"
)

// folded is the state of one model in the values of the status, with the reason of a failure.
type folded struct {
	state   string // "" if the status has no value for the state
	failure *v1alpha1.FailureInfo
}

// fold converts the state of a model.
func fold(m *mmesh.Model, id string) folded {
	if m == nil {
		return folded{state: v1alpha1.Pending}
	}
	out := folded{state: map[int]string{
		mmesh.NotFound: "", mmesh.NotLoaded: v1alpha1.Standby, mmesh.Loading: v1alpha1.Loading, mmesh.Loaded: v1alpha1.Loaded,
		mmesh.LoadingFailed: v1alpha1.FailedToLoad,
	}[m.State]}
	if len(m.Errors) == 0 {
		return out
	}
	out.failure = &v1alpha1.FailureInfo{Reason: v1alpha1.ModelLoadFailed, Message: m.Errors[0], ModelID: id}
	rest, noPods := strings.CutPrefix(m.Errors[0], noPodsPrefix)
	switch {
	case m.State != mmesh.LoadingFailed || !noPods:
	case !strings.HasSuffix(rest, noRuntimeSuffix):
		out.state = v1alpha1.Loading
		out.failure.Reason, out.failure.Message = v1alpha1.RuntimeUnhealthy, waitingForRights
	case strings.HasPrefix(rest, "rt:"):
		out.failure.Reason, out.failure.Message = v1alpha1.RuntimeNotRecognized, unknownRuntime
	default:
		out.failure.Reason, out.failure.Message = v1alpha1.NoSupportingRuntime, unsupported
	}
	return out
}

// copies counts the copies of a model. If no runtime supports the model, the count is 0.
func (f folded) copies(m *mmesh.Model) (total, failed int) {
	if m == nil || f.failure != nil && f.failure.Reason != v1alpha1.ModelLoadFailed {
		return 0, 0
	}
	for _, c := range m.Copies {
		if c.State == mmesh.LoadingFailed {
			failed++
		}
	}
	return len(m.Copies), failed
}

// models copies the states of the models and their copies into the status, and returns the target model.
func models(s *v1alpha1.PredictorStatus, v *mmesh.VModel) (active, target folded, raw *mmesh.Model) {
	active, raw = fold(v.ActiveModel, v.Active), v.ActiveModel
	target = active
	if active.state != "" {
		s.ActiveModelState = active.state
	}
	s.TargetModelState = ""
	s.TotalCopies, s.FailedCopies = active.copies(v.ActiveModel)
	if v.Active != v.Target {
		target, raw = fold(v.TargetModel, v.Target), v.TargetModel
		s.TargetModelState = target.state
		total, failed := target.copies(v.TargetModel)
		s.TotalCopies, s.FailedCopies = s.TotalCopies+total, s.FailedCopies+failed
	}
	return active, target, raw
}

// update sets the status for a valid spec. A state without a value leaves the status unchanged.
func update(s *v1alpha1.PredictorStatus, v *mmesh.VModel, now time.Time) {
	active, target, raw := models(s, v)
	switch v.State {
	case mmesh.VModelDefined:
		s.TransitionStatus = v1alpha1.UpToDate
	case mmesh.VModelTransitioning:
		s.TransitionStatus = v1alpha1.InProgress
	case mmesh.VModelTransitionFailed:
		s.TransitionStatus = v1alpha1.BlockedByFailedLoad
		if target.state == v1alpha1.Loading { // ModelMesh retries, or waits for a pod
			s.TransitionStatus = v1alpha1.InProgress
		}
	}
	before := s.LastFailureInfo
	s.LastFailureInfo = nil
	if target.failure != nil && target.state != v1alpha1.Loaded {
		s.LastFailureInfo = target.failure
		timed(s.LastFailureInfo, raw, before, now)
	}
	s.Available = serves(active)
	if target.failure == nil && target.state == v1alpha1.Loading && before != nil && before.Reason == v1alpha1.RuntimeUnhealthy {
		s.LastFailureInfo = before // while the model is not loaded, the pod may stop again
		s.Available = s.Available && v.Active != v.Target
	}
}

// serves reports whether a model answers, or will be loaded on the first request.
func serves(active folded) bool {
	waiting := active.failure != nil && active.failure.Reason == v1alpha1.RuntimeUnhealthy
	return active.state != "" && active.state != v1alpha1.FailedToLoad && !waiting
}

// timed sets the place and time of a failure: those of the newest failed copy for a failed load. The time of another failure stays
// while it lasts.
func timed(f *v1alpha1.FailureInfo, m *mmesh.Model, before *v1alpha1.FailureInfo, now time.Time) {
	if f.Reason == v1alpha1.ModelLoadFailed {
		for _, c := range m.Copies {
			if c.State == mmesh.LoadingFailed {
				f.Location = c.Location
				if c.TimeMS > 0 {
					f.Time = &metav1.Time{Time: time.UnixMilli(int64(c.TimeMS)).Truncate(time.Second)} //nolint:gosec // milliseconds
				}
				return
			}
		}
		return
	}
	f.Time = &metav1.Time{Time: now.Truncate(time.Second)}
	if before != nil && before.Time != nil && before.Reason == f.Reason && before.Message == f.Message && before.ModelID == f.ModelID {
		f.Time = before.Time
	}
}
