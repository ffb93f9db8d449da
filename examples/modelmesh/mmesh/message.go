package mmesh

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// The states of a vmodel.
const (
	VModelNotFound         = 0
	VModelDefined          = 1
	VModelTransitioning    = 2
	VModelTransitionFailed = 3
	VModelUnknown          = 5
)

// The states of a model and of a copy of it.
const (
	NotFound      = 0
	NotLoaded     = 1
	Loading       = 2
	Loaded        = 3
	LoadingFailed = 4
	Unknown       = 5
)

// SetRequest requests a vmodel with a target model. ModelMesh deletes the target with its last vmodel.
type SetRequest struct {
	ID      string `json:"id"`
	Owner   string `json:"owner"`
	Target  string `json:"target"`
	Type    string `json:"type"`
	Path    string `json:"path,omitempty"`
	Key     string `json:"key,omitempty"`
	LoadNow bool   `json:"loadNow,omitempty"`
}

// Reference names a vmodel, to get or to delete it.
type Reference struct {
	ID    string
	Owner string
}

// VModel is the state of a vmodel.
type VModel struct {
	State       int    `json:"state"`
	Active      string `json:"active,omitempty"`
	Target      string `json:"target,omitempty"`
	ActiveModel *Model `json:"activeModel,omitempty"`
	TargetModel *Model `json:"targetModel,omitempty"`
	Owner       string `json:"owner,omitempty"`
}

// Model is the state of a model.
type Model struct {
	State  int      `json:"state"`
	Errors []string `json:"errors,omitempty"`
	Copies []Copy   `json:"copies,omitempty"`
}

// Copy is a copy of a model in one pod, the newest first.
type Copy struct {
	Location string `json:"location,omitempty"`
	State    int    `json:"state"`
	TimeMS   uint64 `json:"timeMs,omitempty"`
}

// message is a message in the encoding of protocol buffers. As in proto3, unknown fields are skipped and zero values are not sent.
type message interface {
	marshal() []byte
	field(number protowire.Number, value []byte, varint uint64) error
}

func appendText(b []byte, number protowire.Number, text string) []byte {
	if text == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), text)
}

func appendNumber(b []byte, number protowire.Number, value uint64) []byte {
	if value == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), value)
}

func appendFlag(b []byte, number protowire.Number, value bool) []byte {
	return appendNumber(b, number, protowire.EncodeBool(value))
}

func appendMessage(b []byte, number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), content)
}

// unmarshal passes each field of the data to the message.
func unmarshal(data []byte, into message) error {
	for len(data) > 0 {
		number, form, n := protowire.ConsumeTag(data)
		if n < 0 {
			return fmt.Errorf("read a message: %w", protowire.ParseError(n))
		}
		data = data[n:]
		var value []byte
		var varint uint64
		switch form {
		case protowire.VarintType:
			varint, n = protowire.ConsumeVarint(data)
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(data)
		default:
			n = protowire.ConsumeFieldValue(number, form, data)
			number = 0 // an unknown field
		}
		if n < 0 {
			return fmt.Errorf("read field %d of a message: %w", number, protowire.ParseError(n))
		}
		data = data[n:]
		if err := into.field(number, value, varint); err != nil {
			return err
		}
	}
	return nil
}

func (r *SetRequest) marshal() []byte {
	info := appendText(appendText(appendText(nil, 1, r.Type), 2, r.Path), 3, r.Key)
	b := appendText(appendText(nil, 1, r.ID), 2, r.Target)
	b = appendMessage(b, 4, info)
	b = appendFlag(b, 5, true) // autoDeleteTargetModel
	return appendText(appendFlag(b, 6, r.LoadNow), 10, r.Owner)
}

func (r *SetRequest) field(number protowire.Number, value []byte, varint uint64) error {
	switch number {
	case 1:
		r.ID = string(value)
	case 2:
		r.Target = string(value)
	case 4:
		return unmarshal(value, (*info)(r))
	case 6:
		r.LoadNow = protowire.DecodeBool(varint)
	case 10:
		r.Owner = string(value)
	}
	return nil
}

// info is the part of a request that describes the model.
type info SetRequest

func (*info) marshal() []byte { return nil }

func (i *info) field(number protowire.Number, value []byte, _ uint64) error {
	switch number {
	case 1:
		i.Type = string(value)
	case 2:
		i.Path = string(value)
	case 3:
		i.Key = string(value)
	}
	return nil
}

func (r *Reference) marshal() []byte { return appendText(appendText(nil, 1, r.ID), 2, r.Owner) }

func (r *Reference) field(number protowire.Number, value []byte, _ uint64) error {
	switch number {
	case 1:
		r.ID = string(value)
	case 2:
		r.Owner = string(value)
	}
	return nil
}

func (v *VModel) marshal() []byte {
	b := appendNumber(nil, 1, uint64(v.State)) //nolint:gosec // an enumeration
	b = appendText(appendText(b, 2, v.Active), 3, v.Target)
	for n, model := range []*Model{v.ActiveModel, v.TargetModel} {
		if model != nil {
			b = appendMessage(b, protowire.Number(4+n), model.marshal())
		}
	}
	return appendText(b, 6, v.Owner)
}

func (v *VModel) field(number protowire.Number, value []byte, varint uint64) error {
	switch number {
	case 1:
		v.State = int(varint) //nolint:gosec // an enumeration
	case 2:
		v.Active = string(value)
	case 3:
		v.Target = string(value)
	case 4:
		v.ActiveModel = &Model{}
		return unmarshal(value, v.ActiveModel)
	case 5:
		v.TargetModel = &Model{}
		return unmarshal(value, v.TargetModel)
	case 6:
		v.Owner = string(value)
	}
	return nil
}

func (m *Model) marshal() []byte {
	b := appendNumber(nil, 1, uint64(m.State)) //nolint:gosec // an enumeration
	for _, text := range m.Errors {
		b = protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), text)
	}
	for i := range m.Copies {
		b = appendMessage(b, 3, m.Copies[i].marshal())
	}
	return b
}

func (m *Model) field(number protowire.Number, value []byte, varint uint64) error {
	switch number {
	case 1:
		m.State = int(varint) //nolint:gosec // an enumeration
	case 2:
		m.Errors = append(m.Errors, string(value))
	case 3:
		var c Copy
		if err := unmarshal(value, &c); err != nil {
			return err
		}
		m.Copies = append(m.Copies, c)
	}
	return nil
}

func (c *Copy) marshal() []byte {
	return appendNumber(appendNumber(appendText(nil, 1, c.Location), 2, uint64(c.State)), 3, c.TimeMS) //nolint:gosec // an enumeration
}

func (c *Copy) field(number protowire.Number, value []byte, varint uint64) error {
	switch number {
	case 1:
		c.Location = string(value)
	case 2:
		c.State = int(varint) //nolint:gosec // an enumeration
	case 3:
		c.TimeMS = varint
	}
	return nil
}

// empty is a message without fields.
type empty struct{}

func (*empty) marshal() []byte                              { return nil }
func (*empty) field(protowire.Number, []byte, uint64) error { return nil }
