package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Fault is the outcome of one request instead of its normal one.
type Fault struct {
	// Err is the client's error. An API error, for example from [apierrors.NewConflict], becomes a response of the server; any other error a
	// connection failure. Nil is a reset connection.
	Err error
	// Committed sends the request first, so that its effect is stored and only the response is lost.
	Committed bool
}

// errReset is the error of a fault without one.
var errReset = errors.New("connection reset by an injected fault")

// recorder is the transport of [Requests.RoundTripper].
type recorder struct {
	requests *Requests
	next     http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (t *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	fault := t.requests.record(ParseRequest(request))
	if fault == nil {
		return t.next.RoundTrip(request)
	}

	if fault.Committed {
		response, err := t.next.RoundTrip(request)
		if err != nil {
			return nil, err
		}

		// The response is complete, so the server has executed the request.
		_, err = io.Copy(io.Discard, response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return nil, fmt.Errorf("read the response before dropping it: %w", err)
		}
	} else if request.Body != nil {
		// The contract of RoundTripper requires to close the body in any case.
		_ = request.Body.Close()
	}

	return fault.answer(request)
}

// WrappedRoundTripper implements client-go's interface to unwrap a transport.
func (t *recorder) WrappedRoundTripper() http.RoundTripper { return t.next }

// answer returns the client's result of the fault.
func (f *Fault) answer(request *http.Request) (*http.Response, error) {
	if f.Err == nil {
		return nil, errReset
	}

	var status apierrors.APIStatus
	if !errors.As(f.Err, &status) {
		return nil, f.Err
	}

	body := status.Status()
	body.Kind, body.APIVersion = "Status", "v1"

	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode the injected status: %w", err)
	}

	header := http.Header{"Content-Type": {"application/json"}}
	if body.Details != nil && body.Details.RetryAfterSeconds > 0 {
		header.Set("Retry-After", strconv.Itoa(int(body.Details.RetryAfterSeconds)))
	}

	return &http.Response{
		Status:        strconv.Itoa(int(body.Code)) + " " + http.StatusText(int(body.Code)),
		StatusCode:    int(body.Code),
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(data)),
		ContentLength: int64(len(data)),
		Request:       request,
	}, nil
}
