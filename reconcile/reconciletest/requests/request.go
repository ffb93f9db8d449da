package requests

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"strings"
)

// Request is the relevant part of a request to the API server. It is comparable, so it can be a map key.
type Request struct {
	// Verb is get, list, watch, create, update, patch, apply, delete or deletecollection. Server-side apply is apply; the API server's
	// authorisation calls it patch.
	Verb string
	// Group is the API group; empty for the core group.
	Group string
	// Resource is the plural resource name. It is empty for requests without a resource, such as discovery; these have a Path instead.
	Resource string
	// Subresource is for example status; empty for the object itself.
	Subresource string
	// Namespace is empty for cluster-scoped objects and for requests across
	// namespaces.
	Namespace string
	// Name is empty for requests about a collection, and for a create, whose body has the name.
	Name string
	// FieldManager is the field manager of a write; empty otherwise.
	FieldManager string
	// Path is set only when Resource is empty.
	Path string
	// DryRun reports that the server stores nothing.
	DryRun bool
	// Informer reports that the request fills a cache: a watch, or a list with a resource version, which accepts cached data.
	Informer bool
}

// IsWrite reports whether the request changes stored data. A dry run does not.
func (r Request) IsWrite() bool {
	switch r.Verb {
	case "create", "update", "patch", "apply", "delete", "deletecollection":
		return !r.DryRun
	default:
		return false
	}
}

// String returns the request as one line for a failure message, for example
// `apply apps/deployments shop/web`.
func (r Request) String() string {
	if r.Resource == "" {
		return r.Verb + " " + r.Path
	}

	line := r.Verb + " " + strings.TrimPrefix(r.Group+"/"+r.Resource, "/")
	if r.Subresource != "" {
		line += "/" + r.Subresource
	}

	if object := strings.Trim(r.Namespace+"/"+r.Name, "/"); object != "" {
		line += " " + object
	}

	if r.DryRun {
		line += " (dry run)"
	}

	return line
}

// compareRequests orders requests by kind, then object, then verb.
func compareRequests(a, b Request) int {
	return cmp.Or(
		cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource),
		cmp.Compare(a.Subresource, b.Subresource), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Name, b.Name), cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.String(), b.String()),
	)
}

// ParseRequest parses an HTTP request to a Kubernetes API server. The paths are those of the Kubernetes API concepts page: /api/v1/...
// for the core group and /apis/<group>/<version>/... for the others, below any prefix of a proxy. Any other path is a request without a
// resource.
func ParseRequest(request *http.Request) Request {
	query := request.URL.Query()
	parsed := parsePath(request.URL.Path)
	parsed.DryRun = query.Get("dryRun") == "All" || request.Method == http.MethodDelete && deletesDry(request)
	parsed.FieldManager = query.Get("fieldManager")

	watching := query.Get("watch") == "true" || query.Get("watch") == "1"
	parsed.Verb = verb(request, parsed, watching)
	parsed.Informer = parsed.Verb == "watch" || parsed.Verb == "list" && query.Get("resourceVersion") != ""

	return parsed
}

// deletesDry reports whether the body of a DELETE requests a dry run; clients send these options there. In JSON, CBOR and protobuf the
// value All occurs nowhere else in DeleteOptions.
func deletesDry(request *http.Request) bool {
	if request.GetBody == nil {
		return false
	}

	body, err := request.GetBody()
	if err != nil {
		return false
	}
	defer func() { _ = body.Close() }()

	data, err := io.ReadAll(body)

	return err == nil && bytes.Contains(data, []byte("All"))
}

// verb derives the verb from the method, as the API server's request info does.
func verb(request *http.Request, parsed Request, watching bool) string {
	collection := parsed.Resource != "" && parsed.Name == ""

	switch request.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		if strings.HasPrefix(request.Header.Get("Content-Type"), "application/apply-patch") {
			return "apply"
		}

		return "patch"
	case http.MethodDelete:
		if collection {
			return "deletecollection"
		}

		return "delete"
	default:
		if watching && parsed.Resource != "" {
			return "watch"
		}

		if collection {
			return "list"
		}

		return "get"
	}
}

// parsePath splits a path into group, resource, namespace, name, subresource.
func parsePath(path string) Request {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	none := Request{Path: path}

	for len(segments) > 0 && segments[0] != "api" && segments[0] != "apis" {
		segments = segments[1:]
	}

	var parsed Request

	switch {
	case len(segments) >= 3 && segments[0] == "api":
		segments = segments[2:]
	case len(segments) >= 4 && segments[0] == "apis":
		parsed.Group, segments = segments[1], segments[3:]
	default:
		return none
	}

	// The subresources of a namespace are the exception to "namespaces/<name> precedes a resource in it".
	if segments[0] == "namespaces" && len(segments) >= 3 && segments[2] != "status" && segments[2] != "finalize" {
		parsed.Namespace, segments = segments[1], segments[2:]
	}

	parsed.Resource = segments[0]
	if len(segments) > 1 {
		parsed.Name = segments[1]
	}

	if len(segments) > 2 {
		parsed.Subresource = strings.Join(segments[2:], "/")
	}

	if parsed.Resource == "" {
		return none
	}

	return parsed
}
