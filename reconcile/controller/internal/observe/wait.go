package observe

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// maxWait limits how long a request waits for a change, because an open request delays the end of the process.
	maxWait = 5 * time.Second
	// lookAgain is the interval of checks after a pass, because the cache shows the writes of the pass later.
	lookAgain = 500 * time.Millisecond
)

// changed returns the result of look. If the client already has that result, by the header If-None-Match, and accepts a wait, by the header
// "Prefer: wait=5" (RFC 7240), changed waits for passes until the result differs, at most that many seconds. It does not call look again
// before a pass ends.
func changed(
	ctx context.Context, explainers []*Explainer, header http.Header, look func() (*rendered, error),
) (answer *rendered, err error) {
	has, patience := header.Get("If-None-Match"), wanted(header)
	answer, err = look()
	if err != nil || patience == 0 || answer.tag != has {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	news := make(chan struct{}, 1)
	for _, e := range explainers {
		defer e.LastPasses.Tell(news)()
	}
	select {
	case <-news:
	case <-ctx.Done():
	}
	for {
		if answer, err = look(); err != nil || answer.tag != has || ctx.Err() != nil {
			return answer, err
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
		}
	}
}

// wanted returns how long the client accepts to wait.
func wanted(header http.Header) time.Duration {
	for _, value := range header.Values("Prefer") {
		for preference := range strings.SplitSeq(value, ",") {
			seconds, found := strings.CutPrefix(strings.TrimSpace(preference), "wait=")
			if n, err := strconv.Atoi(seconds); found && err == nil && n > 0 {
				return min(time.Duration(n)*time.Second, maxWait)
			}
		}
	}
	return 0
}
