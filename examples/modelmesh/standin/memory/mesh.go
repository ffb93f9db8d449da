package memory

import (
	"context"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
)

// Mesh simulates ModelMesh: it stores vmodels, and loads or fails their models on request of the test. The zero value is empty and
// has instances. It is safe for concurrent use.
type Mesh struct {
	mu      sync.Mutex
	away    error // of every call
	refused error // of every set
	vmodels map[string]*mmesh.VModel
	calls   Calls
	script  func(*mmesh.SetRequest) *mmesh.VModel
}

// Calls are the calls of each method, the oldest first.
type Calls struct {
	Sets          []mmesh.SetRequest
	Gets, Removes []mmesh.Reference
}

var _ mmesh.Server = (*Mesh)(nil)

// Away makes every call fail with the error, until it is called with nil. To simulate that no instance runs, stop the server.
func (m *Mesh) Away(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.away = err
}

// Refuse makes every set fail with the error, until it is called with nil.
func (m *Mesh) Refuse(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = err
}

// Script makes every effective set end in the state that script returns, until it is called with nil.
func (m *Mesh) Script(script func(*mmesh.SetRequest) *mmesh.VModel) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script = script
	if script == nil {
		return
	}
	for id, v := range m.vmodels {
		next := script(&mmesh.SetRequest{ID: id, Owner: v.Owner, Target: v.Target})
		next.Owner = v.Owner
		m.vmodels[id] = next
	}
}

// Finish ends the loading of the target model of a vmodel.
func (m *Mesh) Finish(id string, end mmesh.Model) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.vmodels[id]
	switch {
	case v == nil:
	case v.Active == v.Target:
		v.ActiveModel = &end
	case end.State == mmesh.Loaded:
		v.Active, v.ActiveModel, v.TargetModel, v.State = v.Target, &end, nil, mmesh.VModelDefined
	default:
		v.TargetModel, v.State = &end, mmesh.VModelTransitionFailed
	}
}

// VModels returns the ids of the vmodels with their owners.
func (m *Mesh) VModels() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]string{}
	for id, v := range m.vmodels {
		out[id] = v.Owner
	}
	return out
}

// Calls returns the calls since the previous call of Calls, including failed ones.
func (m *Mesh) Calls() Calls {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := m.calls
	m.calls = Calls{}
	return calls
}

// Put creates a vmodel of another source.
func (m *Mesh) Put(id, owner string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(id, &mmesh.VModel{State: mmesh.VModelDefined, Owner: owner, Active: id, Target: id})
}

func (m *Mesh) put(id string, v *mmesh.VModel) {
	if m.vmodels == nil {
		m.vmodels = map[string]*mmesh.VModel{}
	}
	m.vmodels[id] = v
}

// Set implements mmesh.Server.
func (m *Mesh) Set(_ context.Context, request *mmesh.SetRequest) (*mmesh.VModel, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls.Sets = append(m.calls.Sets, *request)
	v := m.vmodels[request.ID]
	switch {
	case m.away != nil:
		return nil, m.away
	case m.refused != nil:
		return nil, m.refused
	case v != nil && v.Owner != request.Owner:
		return nil, status.Errorf(codes.AlreadyExists, "vmodel %s belongs to %s", request.ID, v.Owner)
	case m.script != nil:
		v = m.script(request)
	case v == nil:
		v = &mmesh.VModel{
			State: mmesh.VModelDefined, Active: request.Target, Target: request.Target, ActiveModel: &mmesh.Model{State: mmesh.NotLoaded},
		}
	case v.Target != request.Target:
		v.State, v.Target, v.TargetModel = mmesh.VModelTransitioning, request.Target, &mmesh.Model{State: mmesh.Loading}
	}
	if request.LoadNow && m.script == nil && v.Active == v.Target && v.ActiveModel.State == mmesh.NotLoaded {
		v.ActiveModel = &mmesh.Model{State: mmesh.Loading}
	}
	v.Owner = request.Owner
	m.put(request.ID, v)
	return clone(v), nil
}

// Get implements mmesh.Server.
func (m *Mesh) Get(_ context.Context, reference mmesh.Reference) (*mmesh.VModel, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls.Gets = append(m.calls.Gets, reference)
	v := m.vmodels[reference.ID]
	switch {
	case m.away != nil:
		return nil, m.away
	case v == nil || v.Owner != reference.Owner:
		return &mmesh.VModel{}, nil
	}
	return clone(v), nil
}

// Remove implements mmesh.Server.
func (m *Mesh) Remove(_ context.Context, reference mmesh.Reference) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls.Removes = append(m.calls.Removes, reference)
	if m.away != nil {
		return m.away
	}
	if v := m.vmodels[reference.ID]; v != nil && v.Owner == reference.Owner {
		delete(m.vmodels, reference.ID)
	}
	return nil
}

// clone returns a copy that later changes do not affect. Models are replaced, not changed, so it is shallow.
func clone(v *mmesh.VModel) *mmesh.VModel {
	out := *v
	return &out
}
