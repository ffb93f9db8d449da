package process

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
)

// The settling time for events, and the polling interval of the metrics.
const (
	eventLag      = 300 * time.Millisecond
	queueInterval = 50 * time.Millisecond
)

// AwaitQueues waits until each controller of a program has reconciled the owners that were in its queue at the time of the call, and
// those that the first reconciliations have added to the queues of other controllers. The address is that of the program's metrics.
// The test fails if a queue does not become empty within the given time. Owners that wait for a retry or for a later time are in no
// queue.
func AwaitQueues(t testing.TB, address string, within time.Duration) {
	t.Helper()
	end := time.Now().Add(within) //nolint:forbidigo // the program uses the clock of the same machine
	for range 2 {
		time.Sleep(eventLag) //nolint:forbidigo // the operator is another process
		idle := map[string]bool{}
		for {
			busy, err := busyControllers(address)
			if err != nil {
				t.Fatal(err)
			}
			var left []string
			for controller, works := range busy {
				if idle[controller] = idle[controller] || !works; !idle[controller] {
					left = append(left, controller)
				}
			}
			if len(busy) > 0 && len(left) == 0 {
				break
			}
			if time.Now().After(end) { //nolint:forbidigo // as above
				slices.Sort(left)
				t.Fatalf("the queues of the controllers %q are not empty after %s", left, within)
			}
			time.Sleep(queueInterval) //nolint:forbidigo // as above
		}
	}
}

// busyControllers reports for each controller whether its queue has an owner or a worker reconciles one.
func busyControllers(address string) (map[string]bool, error) {
	response, err := http.Get("http://" + address + "/metrics") //nolint:gosec,noctx // the address of a test
	if err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	return parseBusy(response.Body)
}

var queueMetric = regexp.MustCompile(`^(?:workqueue_depth|controller_runtime_active_workers)\{.*controller="([^"]*)".*\} (\S+)$`)

// parseBusy parses metrics in the text format of Prometheus.
func parseBusy(metrics io.Reader) (map[string]bool, error) {
	busy := map[string]bool{}
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		found := queueMetric.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		value, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			return nil, fmt.Errorf("read the metric %s: %w", found[0], err)
		}
		busy[found[1]] = busy[found[1]] || value > 0
	}
	return busy, lines.Err()
}
