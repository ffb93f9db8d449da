package mmesh

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
)

// The full names of the methods.
const (
	methodSet    = "/mmesh.ModelMesh/setVModel"
	methodGet    = "/mmesh.ModelMesh/getVModelStatus"
	methodDelete = "/mmesh.ModelMesh/deleteVModel"
)

// codec encodes the messages of this package, under the name that gRPC uses for protocol buffers.
type codec struct{}

var _ encoding.Codec = codec{}

// Name implements [encoding.Codec].
func (codec) Name() string { return "proto" }

// Marshal implements [encoding.Codec].
func (codec) Marshal(v any) ([]byte, error) {
	m, ok := v.(message)
	if !ok {
		return nil, fmt.Errorf("send %T: not a message of ModelMesh", v)
	}
	return m.marshal(), nil
}

// Unmarshal implements [encoding.Codec].
func (codec) Unmarshal(data []byte, v any) error {
	m, ok := v.(message)
	if !ok {
		return fmt.Errorf("receive %T: not a message of ModelMesh", v)
	}
	return unmarshal(data, m)
}

// Client calls ModelMesh over a connection.
type Client struct{ Conn grpc.ClientConnInterface }

// Set creates or updates a vmodel and returns its state.
func (c Client) Set(ctx context.Context, request *SetRequest) (*VModel, error) {
	answer := &VModel{}
	return answer, c.Conn.Invoke(ctx, methodSet, request, answer, grpc.ForceCodec(codec{}))
}

// Get returns the state of a vmodel. If the vmodel does not exist, or has another owner, the state is VModelNotFound.
func (c Client) Get(ctx context.Context, reference Reference) (*VModel, error) {
	answer := &VModel{}
	return answer, c.Conn.Invoke(ctx, methodGet, &reference, answer, grpc.ForceCodec(codec{}))
}

// Remove deletes a vmodel. It returns no error if the vmodel does not exist.
func (c Client) Remove(ctx context.Context, reference Reference) error {
	return c.Conn.Invoke(ctx, methodDelete, &reference, &empty{}, grpc.ForceCodec(codec{}))
}

// Server is the interface of a stub of ModelMesh.
type Server interface {
	Set(ctx context.Context, request *SetRequest) (*VModel, error)
	Get(ctx context.Context, reference Reference) (*VModel, error)
	Remove(ctx context.Context, reference Reference) error
}

// NewServer returns a gRPC server for the stub.
func NewServer(standin Server, options ...grpc.ServerOption) *grpc.Server {
	server := grpc.NewServer(append(options, grpc.ForceServerCodec(codec{}))...)
	method := func(name string, call func(ctx context.Context, s Server, decode func(any) error) (any, error)) grpc.MethodDesc {
		return grpc.MethodDesc{MethodName: name, Handler: func(
			srv any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor,
		) (any, error) {
			return call(ctx, srv.(Server), decode) //nolint:forcetypeassert // registered below
		}}
	}
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "mmesh.ModelMesh", HandlerType: (*Server)(nil),
		Methods: []grpc.MethodDesc{
			method("setVModel", func(ctx context.Context, s Server, decode func(any) error) (any, error) {
				request := &SetRequest{}
				if err := decode(request); err != nil {
					return nil, err
				}
				return s.Set(ctx, request)
			}),
			method("getVModelStatus", func(ctx context.Context, s Server, decode func(any) error) (any, error) {
				reference := &Reference{}
				if err := decode(reference); err != nil {
					return nil, err
				}
				return s.Get(ctx, *reference)
			}),
			method("deleteVModel", func(ctx context.Context, s Server, decode func(any) error) (any, error) {
				reference := &Reference{}
				if err := decode(reference); err != nil {
					return nil, err
				}
				return &empty{}, s.Remove(ctx, *reference)
			}),
		},
	}, standin)
	return server
}
