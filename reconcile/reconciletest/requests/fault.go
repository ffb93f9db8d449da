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

// Fault is what happens to one request instead of its normal course.
type Fault struct {
	// Err is what the client gets. An API error, made for example with
	// [apierrors.NewConflict], arrives as an answer of the server; any other
	// error as a failure of the connection. Nil is the same as a connection
	// that was reset.
	Err error
	// Committed lets the request reach the server first, so that its effect is
	// stored and only the answer is lost.
	Committed bool
}

// errReset is what a fault without an error gives.
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

		// The answer is complete, so the server has done its work.
		_, err = io.Copy(io.Discard, response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return nil, fmt.Errorf("read the answer that is to be lost: %w", err)
		}
	} else if request.Body != nil {
		// The contract of RoundTripper: the body is closed in any case.
		_ = request.Body.Close()
	}

	return fault.answer(request)
}

// WrappedRoundTripper lets client-go find the transport below.
func (t *recorder) WrappedRoundTripper() http.RoundTripper { return t.next }

// answer turns the fault into what the client sees.
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
