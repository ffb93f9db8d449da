package predictor

import (
	"cmp"

	"github.com/reconcilekit/reconcilekit/conditions"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
)

// component is the component of an InferenceService that ModelMesh serves.
const component = "predictor"

// statusOf converts the status of an InferenceService to that of a Predictor.
func statusOf(s *v1beta1.InferenceServiceStatus) v1alpha1.PredictorStatus {
	out := v1alpha1.PredictorStatus{GRPCEndpoint: s.URL, HTTPEndpoint: s.Components[component].RESTURL}
	for _, c := range s.Conditions {
		if c.Type == v1beta1.PredictorReady {
			out.Available = c.Status == "True"
		}
	}
	if m := s.ModelStatus; m != nil {
		out.TransitionStatus = m.TransitionStatus
		if m.States != nil {
			out.ActiveModelState, out.TargetModelState = m.States.ActiveModelState, m.States.TargetModelState
		}
		if m.Copies != nil {
			out.FailedCopies, out.TotalCopies = m.Copies.FailedCopies, m.Copies.TotalCopies
		}
		if f := m.LastFailureInfo; f != nil {
			out.LastFailureInfo = &v1alpha1.FailureInfo{
				Location: f.Location, Reason: f.Reason, Message: f.Message, ModelID: f.ModelRevisionName, Time: f.Time,
			}
		}
	}
	out.ActiveModelState = cmp.Or(out.ActiveModelState, v1alpha1.Pending)
	return out
}

// setStatus writes the status of a Predictor into that of an InferenceService. It keeps the fields that KServe has set.
func setStatus(s *v1beta1.InferenceServiceStatus, m *conditions.Manager, p *v1alpha1.PredictorStatus) {
	s.ModelStatus = &v1beta1.ModelStatus{
		TransitionStatus: p.TransitionStatus,
		States:           &v1beta1.States{ActiveModelState: p.ActiveModelState, TargetModelState: p.TargetModelState},
		Copies:           &v1beta1.Copies{FailedCopies: p.FailedCopies, TotalCopies: p.TotalCopies},
	}
	reason, message := "ModelNotAvailable", "the model is "+p.ActiveModelState
	if f := p.LastFailureInfo; f != nil {
		s.ModelStatus.LastFailureInfo = &v1beta1.FailureInfo{
			Location: f.Location, Reason: f.Reason, Message: f.Message, ModelRevisionName: f.ModelID, Time: f.Time,
		}
		reason, message = f.Reason, f.Message
	}
	if p.Available {
		s.URL = p.GRPCEndpoint
		if s.Components == nil {
			s.Components = map[string]v1beta1.Component{}
		}
		s.Components[component] = v1beta1.Component{URL: p.GRPCEndpoint, GRPCURL: p.GRPCEndpoint, RESTURL: p.HTTPEndpoint}
		m.MarkTrue(v1beta1.PredictorReady, "ModelAvailable", "")
		m.MarkTrue(v1beta1.Ready, "ModelAvailable", "")
		return
	}
	s.URL = ""
	delete(s.Components, component)
	m.MarkFalse(v1beta1.PredictorReady, reason, message)
	m.MarkFalse(v1beta1.Ready, reason, message)
}
