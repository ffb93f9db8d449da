package catalogapi

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Prober requests the model list of a backend with the token of a caller. The answer decides whether the caller may use the model.
type Prober struct {
	client  *http.Client
	trusted func(context.Context, *url.URL) bool
}

// NewProber returns a prober that sends tokens only to URLs for which trusted returns true, also after a redirect. It verifies
// certificates with the configuration, or with the authorities of the system if the configuration is nil. It uses no proxy.
func NewProber(trusted func(context.Context, *url.URL) bool, config *tls.Config) *Prober {
	p := &Prober{trusted: trusted}
	p.client = &http.Client{
		Transport: &http.Transport{TLSClientConfig: config, MaxIdleConnsPerHost: most},
		CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			if !trusted(r.Context(), r.URL) {
				return fmt.Errorf("redirect to %s: not the host of the gateway", r.URL.Host)
			}
			return nil
		},
	}
	return p
}

// model is one entry of a backend's list. Fields that the backend does not return are empty.
type model struct {
	ID      string `json:"id"`
	Created int64  `json:"created"`
}

const (
	attempts      = 4
	firstPause    = 100 * time.Millisecond
	largestAnswer = 4 << 20
)

// Probe returns the models behind an endpoint that the caller may use, or nil. It repeats a request with a temporary failure up to
// four times, until the context ends.
func (p *Prober) Probe(ctx context.Context, endpoint, authorization, subscription string) []model {
	target, err := url.Parse(endpoint)
	if err != nil || target.Host == "" || !p.trusted(ctx, target) {
		return nil
	}
	pause := firstPause
	for attempt := 1; ; attempt++ {
		models, again := p.ask(ctx, strings.TrimSuffix(endpoint, "/")+"/v1/models", authorization, subscription)
		if !again || attempt == attempts {
			return models
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause + rand.N(pause/10)): //nolint:gosec,mnd // a jitter of 10 %
		}
		pause *= 2
	}
}

// ask sends one request. The result again reports a failure that may be temporary.
func (p *Prober) ask(ctx context.Context, target, authorization, subscription string) (models []model, again bool) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, false
	}
	r.Header.Set("Authorization", authorization)
	r.Header.Set("X-Maas-Subscription", subscription)
	got, err := p.client.Do(r)
	if err != nil {
		return nil, true
	}
	defer func() { _ = got.Body.Close() }()
	switch code := got.StatusCode; {
	case code == http.StatusMethodNotAllowed:
		return []model{{}}, false
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusNotFound:
		return nil, false
	case code < http.StatusOK || code >= http.StatusMultipleChoices:
		return nil, true
	}
	body, err := io.ReadAll(io.LimitReader(got.Body, largestAnswer+1))
	var list struct{ Data []model }
	if err != nil || len(body) > largestAnswer || json.Unmarshal(body, &list) != nil {
		return nil, true
	}
	for _, m := range list.Data {
		if m.ID != "" {
			models = append(models, m)
		}
	}
	if models == nil { // the backend has models but does not name them
		models = []model{{}}
	}
	return models, false
}
