package observe

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// maxWait bounds how long a request waits for something new: an open one delays the end of the process.
	maxWait = 5 * time.Second
	// lookAgain is how often is looked after a pass: the cache shows later what the pass has written.
	lookAgain = 500 * time.Millisecond
)

// changed is what look returns. A request that has it already, by the header If-None-Match, and that is willing to wait, by the header
// "Prefer: wait=5" (RFC 7240), waits for passes until there is something else, at most that many seconds. Until a pass is made nothing is
// looked at.
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

// wanted is how long the asker is willing to wait.
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
