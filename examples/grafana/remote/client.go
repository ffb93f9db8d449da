package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/reconcilekit/reconcilekit/health"
)

// Client calls the HTTP API of one Grafana: with the token, or with the user and the password.
type Client struct {
	URL, Token, User, Password string
	HTTP                       *http.Client
}

// Error is a response of Grafana that is not a success.
type Error struct {
	Request string // method and path
	Status  int
	Message string
}

// Error returns the request, the status and the message of Grafana.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: status %d: %s", e.Request, e.Status, e.Message)
}

// HealthCategory implements health.Classified: a user has to correct credentials or a resource that Grafana rejects.
func (e *Error) HealthCategory() string {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return health.Auth.String()
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
		return health.InvalidSpec.String()
	case http.StatusConflict, http.StatusPreconditionFailed:
		return health.Conflict.String()
	}
	return health.Infrastructure.String()
}

// HealthReason implements health.Classified.
func (e *Error) HealthReason() string {
	if e.HealthCategory() == health.Auth.String() {
		return "GrafanaRefusesCredentials"
	}
	return "GrafanaFailed"
}

// IsNotFound reports whether Grafana does not have the resource.
func IsNotFound(err error) bool {
	var response *Error
	return errors.As(err, &response) && response.Status == http.StatusNotFound
}

// Call sends a request. It sends body as JSON, and decodes the response into a non-nil into.
func (c Client) Call(ctx context.Context, method, path string, body, into any) error {
	var content io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("%s %s: encode the request: %w", method, path, err)
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+path, content)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	} else {
		request.SetBasicAuth(c.User, c.Password)
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	const most = 16 << 20
	text, err := io.ReadAll(io.LimitReader(response.Body, most))
	if err != nil {
		return fmt.Errorf("%s %s: read the response: %w", method, path, err)
	}
	if response.StatusCode != http.StatusOK {
		var answer struct {
			Message string `json:"message"`
		}
		_ = json.Unmarshal(text, &answer) // a proxy may answer with something else
		return &Error{Request: method + " " + path, Status: response.StatusCode, Message: answer.Message}
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s %s: want JSON: %w", method, path, err)
	}
	return nil
}
