package runtimes

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// defaultAdapterPort is the management port of an adapter if the runtime sets none.
const defaultAdapterPort = "8085"

// endpoint is the address of a container: a port, or a socket in the pod. Both are empty if there is none.
type endpoint struct{ port, socket string }

// parseEndpoint parses port:<n>, unix:<path> and unix://<path>.
func parseEndpoint(text *string) (endpoint, error) {
	if text == nil {
		return endpoint{}, nil
	}
	if port, found := strings.CutPrefix(*text, "port:"); found {
		if _, err := strconv.ParseUint(port, 10, 16); err == nil {
			return endpoint{port: port}, nil
		}
	}
	if socket, found := strings.CutPrefix(*text, "unix:"); found {
		return endpoint{socket: strings.TrimPrefix(socket, "//")}, nil
	}
	return endpoint{}, fmt.Errorf("%s: %s", "Invaid Endpoint", *text) // the spelling of the product
}

// endpoints are the endpoints of a runtime, with the folder of their sockets, or empty.
type endpoints struct {
	management, data endpoint
	folder           string
}

const oneFolder = "Only one unix domain socket path is allowed" // as the product has it

func (r *Runtime) endpoints() (endpoints, error) {
	management, err := parseEndpoint(r.Spec.GRPCEndpoint)
	data, dataErr := parseEndpoint(r.Spec.GRPCDataEndpoint)
	if err := errors.Join(err, dataErr); err != nil {
		return endpoints{}, err
	}
	if r.Spec.GRPCEndpoint == nil {
		if r.Spec.BuiltInAdapter == nil {
			return endpoints{}, errors.New("spec.grpcEndpoint is empty; want port:<number> or unix:<path>")
		}
		management.port = defaultAdapterPort
	}
	if r.Spec.BuiltInAdapter != nil && management.port == "" {
		return endpoints{}, fmt.Errorf("spec.grpcEndpoint: %q; want port:<number> together with spec.builtInAdapter", *r.Spec.GRPCEndpoint)
	}
	all := endpoints{management: management, data: data}
	for _, e := range []endpoint{management, data} {
		if e.socket == "" {
			continue
		}
		folder := path.Dir(e.socket)
		if all.folder != "" && all.folder != folder {
			return endpoints{}, errors.New(oneFolder) //nolint:staticcheck // as in the product
		}
		all.folder = folder
	}
	return all, nil
}
